import { dayPrefix } from '../composition/body-key.ts'
import { eventTypesWhere } from '../events/event-types.ts'
import type { AnySql } from '../platform/database/database.ts'

/** One week of a table that is partitioned by week (sql/README.md). */
export interface Partition {
  readonly name: string
  readonly parent: string
  /** The partition key: the row's time, or the time in a message id. */
  readonly by: 'time' | 'message'
  /** Monday, 0:00 UTC. */
  readonly week: Date
  /** `going`: its detaching was interrupted, and its rows are no longer found; `out`: detached but not dropped. */
  readonly state: 'kept' | 'going' | 'out'
  /** Whether it is to be dropped. One that is `kept` all the same was marked by a process that did not get further. */
  readonly isMarked: boolean
}

const DAY_MS = 86_400_000
/** Table comment of a partition to be dropped. Partitions that the operator detached have no such comment and are kept. */
const MARK = 'postrider: past its retention'

/** Returns all partitions that ensure_partitions creates, for any table, and those that are marked but not dropped yet. */
export async function selectPartitions(sql: AnySql): Promise<Partition[]> {
  return sql<Partition[]>`
    with parents as (
      select p.oid, p.relname, k.typname
        from pg_partitioned_table t
        join pg_class p on p.oid = t.partrelid and p.relnamespace = current_schema()::regnamespace
        join pg_attribute a on a.attrelid = t.partrelid and a.attnum = t.partattrs[0]
        join pg_type k on k.oid = a.atttypid
       where t.partstrat = 'r' and t.partnatts = 1 and k.typname in ('uuid', 'timestamptz')
    )
    select c.relname as name, p.relname as parent, case p.typname when 'uuid' then 'message' else 'time' end as by,
           to_date(right(c.relname, 7), 'IYYY"w"IW')::timestamp at time zone 'UTC' as week,
           case when i.inhrelid is null then 'out' when i.inhdetachpending then 'going' else 'kept' end as state,
           d.description is not distinct from ${MARK} as "isMarked"
      from parents p
      join pg_class c on c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
                     and c.relname ~ ('^' || p.relname || '_\\d{4}w\\d\\d$')
      left join pg_inherits i on i.inhrelid = c.oid and i.inhparent = p.oid
      left join pg_description d on d.objoid = c.oid and d.classoid = 'pg_class'::regclass and d.objsubid = 0
     where i.inhrelid is not null or d.description = ${MARK}
     order by week, p.typname = 'uuid', name`
}

/**
 * Drops a partition. It is detached concurrently, so that mail continues: this waits for all users of the parent, but none of them
 * waits for this. If the process dies meanwhile, the mark remains and the next process resumes.
 *
 * Must be called outside a transaction. Throws the database's error, for example if a long reader (a dump) does not finish within
 * the statement timeout; the call can then be repeated.
 */
export async function dropPartition(sql: AnySql, { name, parent, week, state }: Partition): Promise<void> {
  const table = quoted(name)
  if (state !== 'out') {
    await sql.unsafe(`comment on table ${table} is '${MARK}'`)
    const [{ pending } = { pending: undefined }] = await sql<{ pending?: boolean }[]>`
      select inhdetachpending as pending from pg_inherits where inhrelid = ${name}::text::regclass`
    const detach = `alter table ${quoted(parent)} detach partition ${table}`
    if (pending !== undefined) await sql.unsafe(`${detach} ${pending ? 'finalize' : 'concurrently'}`)
  }
  // Several statements without parameters are one transaction.
  await sql.unsafe(`${parent === 'bodies' ? notingDays(week) : ''}drop table if exists ${table}`)
}

/** Takes the mark off a partition that is needed again, so that one that the operator detaches is kept. */
export async function unmarkPartition(sql: AnySql, { name }: Partition): Promise<void> {
  await sql.unsafe(`comment on table ${quoted(name)} is null`)
}

/** Notes that the objects of the week's days are to be removed, if bodies were ever stored in object storage (body-objects.ts). */
function notingDays(week: Date): string {
  const days = Array.from({ length: 7 }, (_, day) => `('${dayPrefix(new Date(week.getTime() + day * DAY_MS))}')`)
  return `insert into object_removals (key) select prefix from (values ${days.join(', ')}) as week(prefix), object_sweep on conflict do nothing; `
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Returns whether a delivery of a message of this week is still queued. */
export async function hasWaiting(sql: AnySql, { week }: Partition): Promise<boolean> {
  const rows = await sql`
    select from delivery_queue
     where message_id >= uuidv7_floor(${week}::timestamptz)
       and message_id < uuidv7_floor(${week}::timestamptz + interval '7 days')
     order by message_id limit 1`
  return rows.length > 0
}

/** Opens, clicks and the like may occur at any time after the message. */
const OUTCOMES = eventTypesWhere(({ byReader }) => !byReader)

/** Returns whether an outcome event of a message of this week is stored. */
export async function hasOutcomes(sql: AnySql, { week }: Partition): Promise<boolean> {
  const rows = await sql`
    select from events
     where message_id >= uuidv7_floor(${week}::timestamptz)
       and message_id < uuidv7_floor(${week}::timestamptz + interval '7 days')
       and type = any(${OUTCOMES})
     order by message_id limit 1`
  return rows.length > 0
}

/** Returns whether an event of this week has no sequence number yet, so that consumers have not seen it. */
export async function hasUnnumbered(sql: AnySql, { week }: Partition): Promise<boolean> {
  const rows = await sql`
    select from events
     where transaction > (select transaction from event_cursors where name = 'numbers')
       and occurred_at >= ${week}::timestamptz and occurred_at < ${week}::timestamptz + interval '7 days'
     order by transaction limit 1`
  return rows.length > 0
}

/** Deletes up to `limit` pages of events of this week, but never an account's last one. Returns their number. */
export async function deletePages(sql: AnySql, { week }: Partition, limit: number): Promise<number> {
  const { count } = await sql`
    delete from event_pages
     where ctid = any(array(
       select p.ctid from event_pages p
        where p.week = ${week}::timestamptz
          and exists (select from event_pages n where n.account_id = p.account_id and n.first_number > p.first_number)
        limit ${limit}))`
  return count
}

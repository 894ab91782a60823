import type { AnySql } from '../platform/database/database.ts'

/** A week of one of the tables that are partitioned by week (sql/README.md). */
export interface Partition {
  readonly name: string
  readonly parent: string
  /** What its rows are told apart by: their own time, or the time in a message id. */
  readonly by: 'time' | 'message'
  /** Monday, 0:00 UTC. */
  readonly week: Date
  /** `going`: marked, and perhaps taken out already, by somebody who may have died. */
  readonly state: 'kept' | 'going' | 'out'
}

/** Says of a table that it is on its way out: one that somebody else took out of its parent has no such mark, and stays. */
const MARK = 'postrider: past its retention'

/** All partitions that ensure_partitions makes, whatever tables there will be, and what is left of those on their way out. */
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
           case when i.inhrelid is null then 'out' when i.inhdetachpending or d.description = ${MARK} then 'going' else 'kept' end
             as state
      from parents p
      join pg_class c on c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
                     and c.relname ~ ('^' || p.relname || '_\\d{4}w\\d\\d$')
      left join pg_inherits i on i.inhrelid = c.oid and i.inhparent = p.oid
      left join pg_description d on d.objoid = c.oid and d.classoid = 'pg_class'::regclass and d.objsubid = 0
     where i.inhrelid is not null or d.description = ${MARK}
     order by week, p.typname = 'uuid', name`
}

/**
 * Drops a partition. It is taken out of its parent concurrently, so that mail goes on meanwhile: nobody waits behind this, while
 * this waits for all who use the parent. Whoever dies on the way leaves a mark, and the next one goes on.
 *
 * No transaction may be open. Throws what the database says, as when a long reader (a dump) does not end within the statement's
 * time: then it is to be tried again.
 */
export async function dropPartition(sql: AnySql, { name, parent, state }: Partition): Promise<void> {
  const table = quoted(name)
  if (state !== 'out') {
    await sql.unsafe(`comment on table ${table} is '${MARK}'`)
    const [{ pending } = { pending: undefined }] = await sql<{ pending?: boolean }[]>`
      select inhdetachpending as pending from pg_inherits where inhrelid = ${name}::text::regclass`
    const detach = `alter table ${quoted(parent)} detach partition ${table}`
    if (pending !== undefined) await sql.unsafe(`${detach} ${pending ? 'finalize' : 'concurrently'}`)
  }
  await sql.unsafe(`drop table if exists ${table}`)
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Does a delivery of a message of this week still wait? */
export async function hasWaiting(sql: AnySql, { week }: Partition): Promise<boolean> {
  const rows = await sql`
    select from delivery_queue
     where message_id >= uuidv7_floor(${week}::timestamptz)
       and message_id < uuidv7_floor(${week}::timestamptz + interval '7 days')
     order by message_id limit 1`
  return rows.length > 0
}

/** Is an outcome of a message of this week still among the events? What readers do comes whenever they like, and does not count. */
export async function hasOutcomes(sql: AnySql, { week }: Partition): Promise<boolean> {
  const rows = await sql`
    select from events
     where message_id >= uuidv7_floor(${week}::timestamptz)
       and message_id < uuidv7_floor(${week}::timestamptz + interval '7 days')
       and type in ('processed', 'sent', 'deferred', 'bounced', 'dropped', 'invalid', 'expired')
     order by message_id limit 1`
  return rows.length > 0
}

/** Has an event of this week no number yet? Then readers that go by number have not seen it. */
export async function hasUnnumbered(sql: AnySql, { week }: Partition): Promise<boolean> {
  const rows = await sql`
    select from events
     where transaction > (select transaction from event_cursors where name = 'numbers')
       and occurred_at >= ${week}::timestamptz and occurred_at < ${week}::timestamptz + interval '7 days'
     order by transaction limit 1`
  return rows.length > 0
}

/** Deletes some pages of events of this week, but never an account's last. Answers how many. */
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

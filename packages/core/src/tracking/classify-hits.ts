import { type Sign, settleDelivered } from '../delivery/outcomes/settle-delivered.ts'
import { insertEvents } from '../events/insert-events.ts'
import type { Sql, SqlTransaction } from '../platform/database/database.ts'
import type { Log } from '../platform/process/log.ts'
import { DELIVERY_RULES } from './machine-rules.ts'

/** Seconds before a hit is classified, so that the delivery's outcome and simultaneous hits are in the database. */
const CLASSIFY_AFTER = 3
/** Hits classified in one transaction. */
const BATCH = 1000
/** Hits up to which it is not worth a plan of its own. */
const FEW = 50
/** Maximum events per delivery and hour, separately for opens and clicks and for humans and machines. */
export const HITS_AN_HOUR = 50

/**
 * Turns the due hits into events and deletes them in the same transaction, so that a crash loses and duplicates nothing. Only one
 * process at a time does this. Returns whether more hits may be due.
 *
 * A hit is discarded if its message is no longer stored, its recipient was erased or its account is deleted. A hit that the
 * database rejects is discarded too, so that it does not block the others.
 */
export async function classifyHits({ sql, log }: { sql: Sql; log: Log }): Promise<boolean> {
  try {
    return await classifyBatch(sql, BATCH)
  } catch (error) {
    const { code } = error as { code?: unknown }
    // Classes 22 and 23 are caused by the data of a hit, not by the state of the database.
    if (typeof code !== 'string' || !/^2[23]/.test(code)) throw error
    return discardRejected(sql, log)
  }
}

/** Processes hits one by one, up to the first that the database rejects, which is deleted. */
async function discardRejected(sql: Sql, log: Log): Promise<boolean> {
  for (let at = 0; at < BATCH; at++) {
    try {
      if (!(await classifyBatch(sql, 1))) return false
    } catch (err) {
      log.error({ err }, 'open or click rejected by the database, discarded')
      await sql`
        delete from hits where id = (select id from hits where at <= service_now() - make_interval(secs => ${CLASSIFY_AFTER})
                                      order by at, id limit 1)`
      return true
    }
  }
  return true
}

interface Due {
  readonly id: string
  readonly messageId: string
  readonly recipientNo: number
}

async function classifyBatch(sql: Sql, limit: number): Promise<boolean> {
  return sql.begin(async (transaction) => {
    const [lock] = await transaction<{ taken: boolean }[]>`select pg_try_advisory_xact_lock(7743, 0) as taken`
    if (!lock?.taken) return false
    const due = await transaction<Due[]>`
      select id, message_id as "messageId", recipient_no as "recipientNo" from hits
       where at <= service_now() - make_interval(secs => ${CLASSIFY_AFTER})
       order by at, id limit ${limit}`
    if (due.length === 0) return false
    // Planned for any number, the statements expect ten hits, and compare each with each: 1.3 s for a thousand, instead of 0.2 (on a loaded machine).
    if (due.length > FEW) await transaction`set local plan_cache_mode = force_custom_plan`
    await markLinks(transaction, due)
    const byHumans = await makeEvents(
      transaction,
      due.map(({ id }) => id),
    )
    await settleDelivered(transaction, byHumans)
    return due.length === limit
  }) as Promise<boolean>
}

/**
 * Marks clicks on different links of a delivery at the same time. Clicks that are not due yet are marked too, because the clicks
 * with which they are compared may be deleted by then.
 *
 * In the order of time, only the end of the last run of clicks on another link and the beginning of the next one are as near. Comparing each click with all
 * others took 2 s for a thousand on one link, and beyond the deadline of a statement for four thousand: then nothing was classified, of any account.
 */
async function markLinks(sql: SqlTransaction, due: readonly Due[]): Promise<void> {
  const { seconds } = DELIVERY_RULES.links
  await sql`
    with delivery as (
      select distinct message_id, recipient_no
        from unnest(${due.map(({ messageId }) => messageId)}::uuid[], ${due.map(({ recipientNo }) => recipientNo)}::int[])
             as due(message_id, recipient_no)
    ), click as (
      select h.id, h.message_id, h.recipient_no, h.link, h.at,
             lag(h.link) over w as link_before, lag(h.at) over w as at_before,
             lead(h.link) over w as link_after, lead(h.at) over w as at_after
        from delivery d join hits h on h.message_id = d.message_id and h.recipient_no = d.recipient_no
       where h.kind = 'clicked'
      window w as (partition by h.message_id, h.recipient_no order by h.at, h.id)
    ), compared as (
      select id, at,
             max(at_before) filter (where link_before <> link) over (partition by message_id, recipient_no order by at, id) as other_before,
             -- Backwards, and not to the end of the partition: Postgres would read that again for each row.
             min(at_after) filter (where link_after <> link) over (partition by message_id, recipient_no order by at desc, id desc) as other_after
        from click
    )
    update hits h set machine = 'links'
      from compared c
     where h.id = c.id and h.machine is null
       and (c.at - c.other_before <= make_interval(secs => ${seconds}) or c.other_after - c.at <= make_interval(secs => ${seconds}))`
}

/**
 * Creates the events, and returns the hits by humans on mail that waits for another attempt. The lock on a delivery makes a concurrent erasure of its
 * recipient wait, or makes this statement see the erasure (retention/privacy/erase-batch.ts, which locks the delivery before its events). Event times
 * are at most one day ago: no older time is plausible, and its partition may have been dropped.
 */
async function makeEvents(sql: SqlTransaction, ids: readonly string[]): Promise<Sign[]> {
  const { seconds } = DELIVERY_RULES.soon
  return sql<Sign[]>`
    with hit as materialized (
      delete from hits h using unnest(${[...ids]}::uuid[]) as due(id) where h.id = due.id
      returning h.*
    ), finished as materialized (
      select h.id, f.finished_at
        from (select id, message_id, recipient_no, account_id from hit order by message_id, recipient_no) h
       cross join lateral (
         select f.finished_at from finished_deliveries f
          where f.message_id = h.message_id and f.recipient_no = h.recipient_no and f.account_id = h.account_id
            and strpos(f.recipient_key, '@') > 0
            for share of f) f
    ), waiting as materialized (
      -- In the order in which jobs and batches lock deliveries (delivery/control/job-work.ts).
      select h.id, q.state
        from (select id, message_id, recipient_no, account_id from hit order by message_id, recipient_no) h
       cross join lateral (
         select q.state from delivery_queue q
          where q.message_id = h.message_id and q.recipient_no = h.recipient_no and q.account_id = h.account_id
            for key share of q) q
    ), checked as materialized (
      select h.*, a.privacy_mode,
             coalesce(h.machine, case when w.state = 'sending' or h.at < f.finished_at + make_interval(secs => ${seconds})
                                      then 'soon' end) as rule
        from hit h
        left join finished f on f.id = h.id
        left join waiting w on w.id = h.id
        join accounts a on a.id = h.account_id and a.state <> 'deleted'
       where (f.id is not null or w.id is not null)
         and exists (select from messages m where m.id = h.message_id and m.account_id = h.account_id)
    ), counted as materialized (
      select message_id, recipient_no, kind, rule is not null as machine, count(*)::int as count
        from checked group by 1, 2, 3, 4
    ), engaged as (
      insert into engagements as e (message_id, recipient_no, kind, machine, total, hour, in_hour)
      select message_id, recipient_no, kind, machine, count, date_trunc('hour', service_now(), 'UTC'), count
        from counted
      on conflict (message_id, recipient_no, kind, machine) do update
         set total = e.total + excluded.total, hour = excluded.hour,
             in_hour = case when e.hour = excluded.hour then e.in_hour else 0 end + excluded.in_hour
      returning message_id, recipient_no, kind, machine, total, in_hour
    ), placed as (
      select j.*, m.in_hour - c.count + p.place as place, m.total - c.count + p.place as number
        from (select id, row_number() over (partition by message_id, recipient_no, kind, rule is not null order by at, id) as place
                from checked) p
        join checked j on j.id = p.id
        join counted c on c.message_id = j.message_id and c.recipient_no = j.recipient_no and c.kind = j.kind
                      and c.machine = (j.rule is not null)
        join engaged m on m.message_id = j.message_id and m.recipient_no = j.recipient_no and m.kind = j.kind
                  and m.machine = (j.rule is not null)
    ), new_events as (
    ${insertEvents(sql, {
      from: sql`placed where place <= ${HITS_AN_HOUR} order by at, id`,
      type: sql`kind`,
      detail: sql`
        jsonb_strip_nulls(jsonb_build_object(
          'ip', case when not privacy_mode then ip end, 'userAgent', case when not privacy_mode then user_agent end,
          'url', url, 'link', link, 'machine', rule, 'rules', rules, 'first', case when rule is null and number = 1 then true end))`,
      at: sql`greatest(at, service_now() - interval '1 day')`,
    })}
    )
    select message_id as "messageId", recipient_no as "recipientNo", kind, at from checked
     where rule is null and id in (select id from waiting where state = 'deferred')`
}

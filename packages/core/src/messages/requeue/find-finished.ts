import { classOf } from '../../accounts/mail-class.ts'
import type { FinishedDelivery, FinishedPage, FinishedPosition } from '../../delivery/control/finished.ts'
import type { JobFilter } from '../../delivery/control/job-filter.ts'
import { isAtDestination } from '../../delivery/limits/destination-names.ts'
import type { AnySql } from '../../platform/database/database.ts'

type Fragment = ReturnType<AnySql>

type Row = FinishedPosition &
  Omit<FinishedDelivery, keyof FinishedPosition> & {
    readonly wanted: boolean
    readonly mailClass: string | null
  }

/**
 * Finds deliveries by their `bounced` and `expired` events, which an index has by account and type. So what is read depends on how many
 * bounced, not on how much mail there was. An event whose delivery has returned to the queue since, or has bounced again, is left out.
 */
export async function findFinished(
  sql: AnySql,
  filter: JobFilter,
  after: FinishedPosition,
  limit: number,
): Promise<FinishedPage> {
  const { accountId = null, place, domain, class: of, tag, bounceClass } = filter
  const from = accountId === null ? after.accountId : Math.max(after.accountId, accountId)
  const when = (condition: boolean, fragment: () => Fragment): Fragment => (condition ? fragment() : sql``)
  const rows = await sql<Row[]>`
    with walked as materialized (
      select e.* from (select id from accounts where id >= ${from}::int and (${accountId}::int is null or id = ${accountId}::int)) a
       cross join lateral (${eventsOf(sql, filter, after, limit)}) e
       order by a.id, e.message_id, e.recipient_no limit ${limit}
    )
    select w.account_id as "accountId", w.message_id::text as "messageId", w.recipient_no as "recipientNo", f.recipient, f.state,
           a.place, w.detail->>'class' as "bounceClass",
           f.state is not null
             ${when(place !== undefined, () => sql`and ${isAtDestination(sql, sql`a.place`, place as string)}`)}
             ${when(domain !== undefined, () => sql`and f.recipient_domain = ${domain as string}::text`)}
             ${when(bounceClass !== undefined, () => sql`and w.detail->>'class' = ${bounceClass as string}::text`)}
             ${when(tag !== undefined, () => sql`and ${tag as string}::text = any(m.tags)`)} as wanted,
           m.settings->>'class' as "mailClass"
      from walked w
      left join lateral (
        select * from finished_deliveries
         where message_id = w.message_id and recipient_no = w.recipient_no and state in ('bounced', 'expired')
           and finished_at = w.occurred_at offset 0) f on true
      left join lateral (
        select place from attempts
         where message_id = w.message_id and recipient_no = w.recipient_no and attempt = f.attempt offset 0) a on true
      left join lateral (select tags, settings from messages where id = w.message_id offset 0) m on true
     order by 1, 2, 3`
  const last = rows.at(-1)
  const found = rows.filter(
    ({ wanted, mailClass }) => wanted && (of === undefined || classOf(mailClass ?? undefined) === of),
  )
  return {
    found: found.map(({ wanted: _, mailClass: _class, ...one }) => one),
    next: last && rows.length === limit ? positionOf(last) : undefined,
  }
}

function positionOf({ accountId, messageId, recipientNo }: FinishedPosition): FinishedPosition {
  return { accountId, messageId, recipientNo }
}

/** The conditions on type and detail are those of the index. */
function eventsOf(sql: AnySql, filter: JobFilter, after: FinishedPosition, limit: number): Fragment {
  const { since = null, until = null, state, bounceClass } = filter
  const isFirst = sql`a.id = ${after.accountId}::int`
  const ofType = (type: Fragment): Fragment => sql`
    (select account_id, message_id, recipient_no, occurred_at, detail from events
      where account_id = a.id and ${type} and not coalesce(detail ? 'machine', false)
        and occurred_at >= ${since}::text::timestamptz and occurred_at < ${until}::text::timestamptz
        and (message_id, recipient_no) > (
              case when ${isFirst} then ${after.messageId}::uuid else '00000000-0000-0000-0000-000000000000' end,
              case when ${isFirst} then ${after.recipientNo}::int else -1 end)
      order by message_id, recipient_no limit ${limit})`
  const arms = [
    ...(state === 'expired' ? [] : [ofType(sql`type = 'bounced'`)]),
    ...(state === 'bounced' || bounceClass !== undefined ? [] : [ofType(sql`type = 'expired'`)]),
  ]
  const [first = sql``, second] = arms
  return second ? sql`${first} union all ${second} order by message_id, recipient_no limit ${limit}` : first
}

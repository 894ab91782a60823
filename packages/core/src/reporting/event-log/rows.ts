import { eventTypesWhere } from '../../events/event-types.ts'
import type { AnySql } from '../../platform/database/database.ts'
import { timeOfId } from '../../submission/message-id.ts'
import type { Place } from './cursor.ts'
import { notable } from './notable.ts'
import { MAX_HITS, type Notable, type StoredRow } from './row.ts'

type Fragment = ReturnType<AnySql>
type DeliveryRow = Omit<StoredRow, 'notable'> & {
  readonly id: string
  readonly changed: Date
  readonly finishedAt: Date | null
}
type EventRow = Notable & { readonly id: string; readonly no: number; readonly at: Date }

function localTime(sql: AnySql, time: Fragment): Fragment {
  return sql`to_char(${time} at time zone z.time_zone, 'YYYY-MM-DD HH24:MI:SS')`
}

/**
 * Maps the rows at these positions by `show`, in order. Rows are mapped as they arrive, because the data read are several times as
 * large as the result, and those of 5,000 rows together outlived the young generation of the heap.
 */
export async function showRows<T>(
  sql: AnySql,
  accountId: number,
  places: readonly Place[],
  show: (row: StoredRow) => T,
): Promise<T[]> {
  const shown: T[] = []
  if (places.length === 0) return shown
  const events = Map.groupBy(await selectNotable(sql, accountId, places), placeOf)
  await selectDeliveries(sql, accountId, places).forEach((row) => {
    const all = events.get(placeOf({ id: row.id, no: row.recipientNo })) ?? []
    const last = all.at(-1)
    const changedAt = last && last.at > row.changed ? last.time : row.changedAt
    const notable = all.filter((event) => !isSuperseded(event, row))
    // Modifies the row: copying took a sixth of the time of a page of 5,000 rows.
    shown.push(show(Object.assign(row, { changedAt, notable })))
  })
  return shown
}

/**
 * Whether a bounce is not the result of the delivery, because the operator requeued it afterwards. A bounce after the delivery was accepted
 * remains its result.
 */
function isSuperseded({ type, at }: EventRow, { state, finishedAt }: DeliveryRow): boolean {
  if (type !== 'bounced' || state === 'bounced') return false
  return state === 'deferred' || state === 'sending' || (finishedAt !== null && at < finishedAt)
}

function placeOf({ id, no }: Pick<EventRow, 'id' | 'no'>): string {
  return `${id} ${no}`
}

function selectDeliveries(sql: AnySql, accountId: number, places: readonly Place[]) {
  const local = (time: Fragment) => localTime(sql, time)
  const changed: Fragment = sql`greatest(m.accepted_at, d.finished_at, a.started_at)`
  return sql<DeliveryRow[]>`
    select m.id::text as id, replace(m.id::text, '-', '') as "messageId", w.no as "recipientNo",
           (m.transaction_base + 4 * w.no)::text as "transactionNumber", d.recipient,
           coalesce(d.personal->'from'->>'email', m.from_address) as "from",
           ${local(sql`m.accepted_at`)} as "acceptedAt",
           coalesce(case when d.state = 'delivered' then ${local(sql`d.finished_at`)} end, '') as "deliveredAt",
           ${local(changed)} as "changedAt", ${changed} as changed, d.finished_at as "finishedAt",
           m.size, coalesce(d.personal->>'subject', m.subject) as subject, d.reference, m.tags, d.state, d.reason,
           m.format = 'content' as merged, m.door = 'v2' as whole,
           d.personal->'attributes' as attributes, a.code, a.enhanced, a.reply
      from unnest(${places.map(({ messageId }) => messageId)}::uuid[], ${places.map(({ recipientNo }) => recipientNo)}::int[])
           with ordinality as w(id, no, at)
     cross join lateral (select * from messages m where m.id = w.id and m.account_id = ${accountId} offset 0) m
     cross join (select time_zone from accounts where id = ${accountId}) z
     cross join lateral (
       select f.recipient, f.reference, f.personal, f.state, f.reason, f.finished_at from finished_deliveries f
        where f.message_id = w.id and f.recipient_no = w.no
       union all
       select q.recipient, q.reference, q.personal, q.state, null, null from delivery_queue q
        where q.message_id = w.id and q.recipient_no = w.no
       limit 1) d
      left join lateral (
       select t.code, t.enhanced, t.reply, t.started_at from attempts t
        where t.message_id = w.id and t.recipient_no = w.no order by t.attempt desc limit 1) a on true
     order by w.at`
}

/**
 * Returns the notable events of the deliveries in chronological order. One query for all messages of the page reads the index of
 * each week once per type. A query per delivery, which reads every week since then, took five times as long for a page of 5,000.
 */
async function selectNotable(sql: AnySql, accountId: number, places: readonly Place[]): Promise<EventRow[]> {
  const ids = [...new Set(places.map(({ messageId }) => messageId))].sort()
  // Ids and events have times of different hosts' clocks.
  const since = new Date(timeOfId(ids[0] as string).getTime() - 2 * DAY)
  return sql<EventRow[]>`
    select e.message_id::text as id, e.recipient_no as no, e.occurred_at as at, e.type, ${localTime(sql, sql`e.occurred_at`)} as time,
           e.detail->>'ip' as ip, e.detail->>'url' as url, e.detail->>'class' as class, case when e.type = 'bounced' then e.detail end as "serverReply"
      from (select time_zone from accounts where id = ${accountId}) z
     cross join unnest(${ROW_TYPES}::text[]) as kind
     cross join lateral (
       select e.id, e.message_id, e.recipient_no, e.type, e.occurred_at, e.detail,
              row_number() over (partition by e.message_id, e.recipient_no order by e.occurred_at desc) as number
         from events e
        where e.account_id = ${accountId} and e.message_id = any(${ids}::uuid[]) and e.type = kind
          and e.occurred_at >= ${since}::timestamptz and e.occurred_at < service_now() + interval '1 day' and ${notable(sql)}
       offset 0) e
     where e.number <= ${MAX_HITS}
     order by e.occurred_at, e.id`
}

/** The types that a row contains or that determine its status. */
const ROW_TYPES = eventTypesWhere(({ log }) => log.statuses.length > 0)

const DAY = 86_400_000

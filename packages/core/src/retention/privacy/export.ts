import { messageIdText, transactionNumber } from '../../messages/index.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { Forgotten } from '../../suppressions/forgotten.ts'
import { causeOf } from '../../suppressions/store.ts'
import type { SuppressionCause } from '../../suppressions/suppression.ts'
import { findQueued } from './find.ts'

/** Maximum number of attempts on one page, unless one delivery has more; each may contain a conversation of a few kilobytes. */
const MAX_ATTEMPTS = 500
/** Maximum number of events on one page. A recipient causes as many as it likes: opens and clicks. */
const MAX_EVENTS = 1000

/** One delivery to the recipient with all stored data except the body. If it has too many events for a page, the next pages repeat it with further ones. */
export interface KeptDelivery {
  /** 32 hex digits. */
  readonly messageId: string
  readonly recipientNo: number
  /** v2 TRANSID. */
  readonly transactionNumber: string
  readonly recipient: string
  readonly kind: string
  readonly state: string
  readonly reason: string | null
  readonly reference: string | null
  /** To and Cc lists, merge attributes and header fields of this recipient. */
  readonly personal: unknown
  readonly finishedAt: Date | null
  readonly acceptedAt: Date
  readonly scheduledAt: Date | null
  readonly from: string
  readonly subject: string
  readonly tags: readonly string[]
  readonly size: number
  readonly clientAddress: string | null
  readonly attempts: readonly Readonly<Record<string, unknown>>[]
  readonly events: readonly Readonly<Record<string, unknown>>[]
}

export interface KeptSuppression {
  /** The unsubscribe group; 0 for all mail. */
  readonly group: number
  readonly reason: string
  readonly since: Date
  /** Whether only a hash of the address is stored, because the recipient was erased. */
  readonly hashed: boolean
  /** Null if it was added by hand, or if that is not known. */
  readonly cause: SuppressionCause | null
}

export interface PersonPage {
  readonly email: string
  readonly deliveries: readonly KeptDelivery[]
  readonly suppressions: readonly KeptSuppression[]
  /** Cursor of the next page; undefined if there is none. */
  readonly next: string | undefined
}

export interface PersonQuestion {
  readonly accountId: number
  /** The address in its canonical lower-case form. */
  readonly key: string
  readonly limit: number
  readonly next?: string | undefined
}

/**
 * A position in the export. Queued deliveries precede finished ones, so that a delivery that finishes meanwhile may appear twice
 * but is never missed.
 */
interface Place {
  readonly part: 'waiting' | 'finished'
  readonly messageId: string
  readonly recipientNo: number
  /** The last event of this delivery that was returned; absent if all of them were. */
  readonly event?: EventPlace | undefined
}

interface EventPlace {
  /** Microseconds since 1970, which a Date does not have. */
  readonly at: string
  readonly id: string
}

const BEGINNING: Place = { part: 'waiting', messageId: '00000000-0000-0000-0000-000000000000', recipientNo: -1 }

type Found = Pick<Place, 'messageId' | 'recipientNo'>

/**
 * Returns a page of the data stored about one recipient. Pages limit the memory needed; `next` is the cursor of the next one.
 *
 * Throws parameterInvalid (next).
 */
export async function exportPerson(
  { sql, forgotten }: { sql: Sql; forgotten: Forgotten },
  question: PersonQuestion,
): Promise<PersonPage> {
  const from = placeOf(question.next)
  const page = from.event ? { found: [from], next: { ...from, event: undefined } } : await pageFrom(sql, question, from)
  const { deliveries, next } = await readDeliveries(sql, question, page)
  return {
    email: question.key,
    // In their current state, because some may have finished since they were found.
    deliveries,
    suppressions: await suppressionsOf({ sql, forgotten }, question),
    next: next && textOf(next),
  }
}

interface Page {
  readonly found: readonly Place[]
  readonly next: Place | undefined
}

async function pageFrom(sql: Sql, question: PersonQuestion, from: Place): Promise<Page> {
  if (from.part === 'finished') return pageOfFinished(sql, question, from)
  const waiting = await pageOfQueue(sql, question, from)
  const left = question.limit - waiting.found.length
  if (waiting.next?.part !== 'finished' || left <= 0) return waiting
  // The queued deliveries are complete; finished ones fill the rest of the page.
  const finished = await pageOfFinished(sql, { ...question, limit: left }, waiting.next)
  // A delivery that finished between the two queries is included once.
  const seen = new Set(waiting.found.map(placeKey))
  return { found: [...waiting.found, ...finished.found.filter((one) => !seen.has(placeKey(one)))], next: finished.next }
}

async function pageOfQueue(sql: Sql, { accountId, key, limit }: PersonQuestion, after: Place): Promise<Page> {
  const until = new Date(Date.now() + DAY).toISOString()
  const { found, next } = await findQueued(sql, { accountId, keys: [key], until, after, limit })
  return {
    found: found.map(({ messageId, recipientNo }) => ({ part: 'waiting', messageId, recipientNo })),
    next: next ? { part: 'waiting', ...next } : { ...BEGINNING, part: 'finished' },
  }
}

/** Margin in milliseconds for differences between the clocks of hosts. */
const DAY = 86_400_000

async function pageOfFinished(sql: Sql, { accountId, key, limit }: PersonQuestion, from: Place): Promise<Page> {
  const rows = await sql<Found[]>`
    select message_id as "messageId", recipient_no as "recipientNo" from finished_deliveries f
     where hashtextextended(f.recipient_key, f.account_id) = hashtextextended(${key}::text, ${accountId}::int)
       and f.recipient_key = ${key}::text and f.account_id = ${accountId}::int
       and (message_id, recipient_no) > (${from.messageId}::uuid, ${from.recipientNo}::int)
     order by message_id, recipient_no limit ${limit + 1}`
  const found = rows.slice(0, limit).map((row): Place => ({ part: 'finished', ...row }))
  return { found, next: rows.length > limit ? found.at(-1) : undefined }
}

type DeliveryRow = Omit<KeptDelivery, 'attempts' | 'events' | 'transactionNumber'> & { transactionBase: string }
type DeliveryFact = Readonly<Record<string, unknown>> & Found
type EventFact = DeliveryFact & { readonly eventAt: string; readonly eventId: string }

/** Reads the first deliveries of a page, as many as their attempts and events allow. */
async function readDeliveries(
  sql: Sql,
  { accountId, key }: PersonQuestion,
  { found, next }: Page,
): Promise<{ deliveries: KeptDelivery[]; next: Place | undefined }> {
  if (found.length === 0) return { deliveries: [], next }
  return sql.begin('isolation level repeatable read read only', async (snapshot) => {
    const rows = await snapshot<DeliveryRow[]>`
      select m.id as "messageId", d.recipient_no as "recipientNo", m.transaction_base as "transactionBase", d.recipient, d.kind,
             d.state, d.reason, d.reference, d.personal, d.finished_at as "finishedAt", m.accepted_at as "acceptedAt",
             m.scheduled_at as "scheduledAt", m.from_address as "from", m.subject, m.tags, m.size,
             host(m.client_address) as "clientAddress"
        from ${these(snapshot, found)}
        join lateral (
          select recipient_no, recipient, recipient_key, kind, state, null as reason, reference, personal, null::timestamptz as finished_at
            from delivery_queue q where q.message_id = w.id and q.recipient_no = w.no
          union all
          select recipient_no, recipient, recipient_key, kind, state, reason, reference, personal, finished_at
            from finished_deliveries f where f.message_id = w.id and f.recipient_no = w.no) d on d.recipient_key = ${key}
        join messages m on m.id = w.id and m.account_id = ${accountId}
       order by w.at`
    const since = new Date(
      rows.reduce((least, { acceptedAt }) => Math.min(least, acceptedAt.getTime()), Date.now()) - DAY,
    )
    const kept = rows.slice(0, await countThatFit(snapshot, rows, since))
    const attempts = await snapshot<DeliveryFact[]>`
      select a.message_id as "messageId", a.recipient_no as "recipientNo", a.attempt, a.started_at as time, a.outcome,
             a.indeterminate, a.milliseconds, a.stage, a.host, a.address as ip, a.tls, a.code, a.enhanced, a.reply, a.conversation
        from ${these(snapshot, kept)}
        join attempts a on a.message_id = w.id and a.recipient_no = w.no
       order by a.message_id, a.recipient_no, a.attempt`
    const { at, id } = found[0]?.event ?? { at: '0', id: '0' }
    const events = await snapshot<EventFact[]>`
      select e.message_id as "messageId", e.recipient_no as "recipientNo", e.occurred_at as time, e.type, e.detail,
             (extract(epoch from e.occurred_at) * 1000000)::bigint::text as "eventAt", e.id::text as "eventId"
        from ${these(snapshot, kept)}
        join events e on e.message_id = w.id and e.recipient_no = w.no
       where e.occurred_at >= ${since}
         and (e.occurred_at, e.id) > (to_timestamp(0) + ${at}::bigint * interval '1 microsecond', ${id}::bigint)
       order by e.occurred_at, e.id limit ${MAX_EVENTS + 1}`
    const [attemptsOf, eventsOf] = [grouped(attempts), grouped(events.slice(0, MAX_EVENTS))]
    const deliveries = kept.map(({ transactionBase, ...delivery }) => ({
      ...delivery,
      messageId: messageIdText(delivery.messageId),
      transactionNumber: transactionNumber(transactionBase, delivery.recipientNo),
      attempts: attemptsOf.get(placeKey(delivery)) ?? [],
      events: (eventsOf.get(placeKey(delivery)) ?? []).map(({ eventAt, eventId, ...event }) => event),
    }))
    const lastKey = kept.map(placeKey).at(-1)
    const place = found.find((one) => placeKey(one) === lastKey)
    const lastEvent = events.length > MAX_EVENTS ? events[MAX_EVENTS - 1] : undefined
    const event = lastEvent && { at: lastEvent.eventAt, id: lastEvent.eventId }
    const isCut = event !== undefined || kept.length < rows.length
    return { deliveries, next: place && isCut ? { ...place, event } : next }
  }) as Promise<{ deliveries: KeptDelivery[]; next: Place | undefined }>
}

/** Returns how many of the deliveries have no more attempts and events than fit on a page; at least one. */
async function countThatFit(snapshot: AnySql, deliveries: readonly Found[], since: Date): Promise<number> {
  const counts = await snapshot<{ attempts: number; events: number }[]>`
    select (select count(*)::int from attempts a where a.message_id = w.id and a.recipient_no = w.no) as attempts,
           (select count(*)::int from (
              select from events e where e.message_id = w.id and e.recipient_no = w.no and e.occurred_at >= ${since}
               limit ${MAX_EVENTS + 1}) counted) as events
      from ${these(snapshot, deliveries)}
     order by w.at`
  let [attempts, events] = [0, 0]
  const end = counts.findIndex((one, at) => {
    attempts += one.attempts
    events += one.events
    return at > 0 && (attempts > MAX_ATTEMPTS || events > MAX_EVENTS)
  })
  return end === -1 ? deliveries.length : end
}

function these(sql: AnySql, deliveries: readonly Found[]): ReturnType<AnySql> {
  const ids = deliveries.map(({ messageId }) => messageId)
  const numbers = deliveries.map(({ recipientNo }) => recipientNo)
  return sql`unnest(${ids}::uuid[], ${numbers}::int[]) with ordinality as w(id, no, at)`
}

function placeKey({ messageId, recipientNo }: Found): string {
  return `${messageId} ${recipientNo}`
}

function grouped(rows: readonly DeliveryFact[]): Map<string, Record<string, unknown>[]> {
  const groups = new Map<string, Record<string, unknown>[]>()
  for (const { messageId, recipientNo, ...fact } of rows) {
    const key = placeKey({ messageId, recipientNo })
    const group = groups.get(key)
    if (group) group.push(fact)
    else groups.set(key, [fact])
  }
  return groups
}

async function suppressionsOf(
  { sql, forgotten }: { sql: Sql; forgotten: Forgotten },
  { accountId, key }: PersonQuestion,
): Promise<KeptSuppression[]> {
  return sql<KeptSuppression[]>`
    select group_id as "group", reason, since, false as hashed, ${causeOf(sql)} as cause from suppressions s
     where account_id = ${accountId} and value = ${key}
    union all
    select group_id, reason, since, true, null from forgotten
     where account_id = ${accountId} and hash = decode(${forgotten.hash(accountId, key).toString('hex')}, 'hex')`
}

function textOf({ part, messageId, recipientNo, event }: Place): string {
  const delivery = `${messageId.replaceAll('-', '')}${recipientNo < 0 ? '' : `-${recipientNo}`}`
  return `${part === 'waiting' ? 'w' : 'f'}${delivery}${event ? `-${event.at}-${event.id}` : ''}`
}

function placeOf(text: string | undefined): Place {
  if (!text) return BEGINNING
  const [, part, messageId, recipientNo = '-1', at, id] =
    /^([wf])([0-9a-f]{32})(?:-(\d{1,9})(?:-(\d{1,17})-(\d{1,18}))?)?$/.exec(text) ?? []
  if (!messageId) throw invalidParameter('next', 'must be the `next` value of the previous page')
  const uuid = messageId.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  const event = at === undefined || id === undefined ? undefined : { at, id }
  return { part: part === 'w' ? 'waiting' : 'finished', messageId: uuid, recipientNo: Number(recipientNo), event }
}

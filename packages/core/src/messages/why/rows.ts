import type { DeliveryClass } from '../../accounts/mail-class.ts'
import type { DeliveryState } from '../../delivery/queue/states.ts'
import type { TlsLevel, TlsOrigin } from '../../delivery/tls/levels.ts'
import type { EventDetail } from '../../events/event-detail.ts'
import type { AnySql } from '../../platform/database/database.ts'
import { parseMessageId } from '../../submission/message-id.ts'

export interface WhyQuery {
  /** Only a message of this account. */
  readonly accountId?: number | undefined
  /** Either form of the id. If undefined, `transactionNumber` identifies the message. */
  readonly messageId?: string | undefined
  /** Only the delivery with this number. */
  readonly transactionNumber?: string | undefined
  /** Only deliveries to this address, in any case. */
  readonly recipient?: string | undefined
  /** Only deliveries with this number or a higher one. */
  readonly fromRecipient?: number | undefined
}

/** Deliveries shown at a time; a message may have 10,000. */
export const MAX_EXPLAINED = 100
/** The latest attempts shown of each. Urgent mail with a late deadline may have hundreds. */
const MAX_ATTEMPTS = 10
/** Maximum number of deliveries of a message, whose transaction numbers follow each other in steps of 4. */
const MAX_NUMBERS = 10_000
/** Events among which an account's recent attempts are counted, and the seconds in which they count. */
const COUNTED = { events: 2000, seconds: 300 } as const

export interface MessageRow {
  /** UUID. */
  readonly id: string
  readonly accountId: number
  readonly acceptedAt: Date
  readonly scheduledAt: Date | null
  readonly recipients: number
  readonly transactionBase: string
  readonly now: Date
}

/** An attempt, without its conversation. */
export interface WhyAttempt {
  readonly attempt: number
  readonly startedAt: Date
  readonly outcome: 'delivered' | 'deferred' | 'bounced' | 'abandoned'
  readonly indeterminate: boolean
  readonly milliseconds: number
  readonly stage: string | null
  readonly host: string | null
  /** The provider or site where it was offered, with the source; null if it was not offered. */
  readonly place: string | null
  readonly code: number | null
  readonly enhanced: string | null
  readonly reply: string | null
  /** The TLS level that was demanded and where that comes from; null if TLS was to be used where it is offered. */
  readonly tlsPolicy: TlsLevel | null
  readonly tlsOrigin: TlsOrigin | null
}

export interface DeliveryRow {
  readonly recipientNo: number
  readonly recipient: string
  readonly state: DeliveryState
  /** Null if it is finished, as are all following fields but the last three. */
  readonly class: DeliveryClass | null
  readonly nextAt: Date | null
  readonly expiresAt: Date | null
  readonly workerId: number | null
  readonly dotAt: Date | null
  readonly setAside: string | null
  readonly place: string | null
  readonly parkedFor: string | null
  /** The recipient's own time, if the submission has one. */
  readonly scheduledAt: Date | null
  readonly reason: string | null
  readonly finishedAt: Date | null
}

export async function findMessage(
  sql: AnySql,
  { accountId, messageId, transactionNumber }: WhyQuery,
): Promise<MessageRow | undefined> {
  const id = messageId === undefined ? undefined : parseMessageId(messageId)
  // Ten digits of seconds, which are also those of the message id, and seven of a counter.
  if (messageId === undefined ? !/^\d{17}$/.test(transactionNumber ?? '') : id === undefined) return undefined
  const second = Number(transactionNumber?.slice(0, 10))
  const named =
    id !== undefined
      ? sql`id = ${id}::uuid`
      : sql`id >= uuidv7_floor(to_timestamp(${second}::float8)) and id < uuidv7_floor(to_timestamp(${second + 1}::float8))
            and transaction_base between ${transactionNumber as string}::bigint - ${4 * (MAX_NUMBERS - 1)} and ${transactionNumber as string}::bigint
            and (${transactionNumber as string}::bigint - transaction_base) / 4 < recipients`
  const [message] = await sql<MessageRow[]>`
    select id::text as id, account_id as "accountId", accepted_at as "acceptedAt", scheduled_at as "scheduledAt", recipients,
           transaction_base::text as "transactionBase", service_now() as now
      from messages where ${named} ${accountId === undefined ? sql`` : sql`and account_id = ${accountId}::int`}`
  return message
}

export interface Selection {
  readonly recipientNo: number | undefined
  /** The address in canonical lower-case form. */
  readonly recipientKey: string | undefined
  readonly fromRecipient: number
}

/** Returns the first deliveries by number. */
export async function readDeliveries(
  sql: AnySql,
  messageId: string,
  { recipientNo, recipientKey, fromRecipient }: Selection,
): Promise<DeliveryRow[]> {
  const chosen = sql`
    message_id = ${messageId}::uuid ${fromRecipient > 0 ? sql`and recipient_no >= ${fromRecipient}::int` : sql``}
    ${recipientNo === undefined ? sql`` : sql`and recipient_no = ${recipientNo}::int`}
    ${recipientKey === undefined ? sql`` : sql`and recipient_key = ${recipientKey}::text`}
    order by recipient_no limit ${MAX_EXPLAINED}`
  return sql<DeliveryRow[]>`
    select * from (
      (select recipient_no as "recipientNo", recipient, state, class, next_at as "nextAt", expires_at as "expiresAt",
              worker_id as "workerId", dot_at as "dotAt", set_aside as "setAside", place, waiting_for as "parkedFor",
              (personal->>'scheduledAt')::timestamptz as "scheduledAt", null::text as reason, null::timestamptz as "finishedAt"
         from delivery_queue where ${chosen})
      union all
      (select recipient_no, recipient, state, null, null, null, null, null, null, null, null, (personal->>'scheduledAt')::timestamptz, reason, finished_at
         from finished_deliveries where ${chosen})) d
     order by "recipientNo" limit ${MAX_EXPLAINED}`
}

/** Returns the latest attempts of each of these deliveries, the latest last, by recipient number. */
export async function readAttempts(
  sql: AnySql,
  messageId: string,
  recipientNos: readonly number[],
): Promise<Map<number, WhyAttempt[]>> {
  const rows = await sql<(WhyAttempt & { recipientNo: number })[]>`
    select a.* from unnest(${[...recipientNos]}::int[]) as d(no) cross join lateral (
      select recipient_no as "recipientNo", attempt, started_at as "startedAt", outcome, indeterminate, milliseconds, stage, host, place, code,
             enhanced, reply, tls_policy as "tlsPolicy", tls_origin as "tlsOrigin"
        from attempts where message_id = ${messageId}::uuid and recipient_no = d.no order by attempt desc limit ${MAX_ATTEMPTS}) a
     order by a."recipientNo", a.attempt`
  const found = new Map<number, WhyAttempt[]>()
  for (const { recipientNo, ...attempt } of rows) found.set(recipientNo, [...(found.get(recipientNo) ?? []), attempt])
  return found
}

/** A report, after the delivery, that it failed. */
export interface LateBounce {
  readonly occurredAt: Date
  readonly detail: Pick<EventDetail, 'reply'>
}

/** Returns the first late bounce of each of these deliveries that has one, by recipient number. The index `events_notable` has no machines. */
export async function readLateBounces(
  sql: AnySql,
  { id, accountId }: MessageRow,
  recipientNos: readonly number[],
): Promise<Map<number, LateBounce>> {
  if (recipientNos.length === 0) return new Map()
  const rows = await sql<(LateBounce & { recipientNo: number })[]>`
    select e.* from unnest(${[...recipientNos]}::int[]) as d(no) cross join lateral (
      select recipient_no as "recipientNo", occurred_at as "occurredAt", detail from events
       where account_id = ${accountId}::int and type = 'bounced' and message_id = ${id}::uuid and recipient_no = d.no
         and not coalesce(detail ? 'machine', false) and detail ? 'late'
       order by occurred_at limit 1) e`
  return new Map(rows.map(({ recipientNo, ...bounce }) => [recipientNo, bounce]))
}

/** Reasons of drops whose events say what is wrong. */
const WITH_PROBLEM: ReadonlySet<string> = new Set(['rendering', 'instructions'])

/** Returns what is wrong with the template or the directives of these deliveries, of those that were dropped for it, by recipient number. */
export async function readProblems(
  sql: AnySql,
  { id, accountId }: MessageRow,
  rows: readonly DeliveryRow[],
): Promise<Map<number, string>> {
  const numbers = rows.flatMap(({ recipientNo, reason }) =>
    reason !== null && WITH_PROBLEM.has(reason) ? [recipientNo] : [],
  )
  if (numbers.length === 0) return new Map()
  const found = await sql<{ recipientNo: number; problem: string }[]>`
    select e.* from unnest(${numbers}::int[]) as d(no) cross join lateral (
      select recipient_no as "recipientNo", detail->>'problem' as problem from events
       where account_id = ${accountId}::int and type = 'dropped' and message_id = ${id}::uuid and recipient_no = d.no
         and not coalesce(detail ? 'machine', false) and detail ? 'problem'
       order by occurred_at limit 1) e`
  return new Map(found.map(({ recipientNo, problem }) => [recipientNo, problem]))
}

/** Returns the paused batch that has the message; undefined if none has. One index probe per paused batch of the account, of at most 100. */
export async function pausedBatchOf(sql: AnySql, { accountId, id }: MessageRow): Promise<string | undefined> {
  const [batch] = await sql<{ id: string }[]>`
    select b.id from batches b join batch_messages m on m.account_id = b.account_id and m.batch_id = b.id
     where b.account_id = ${accountId}::int and b.state = 'pause' and m.message_id = ${id}::uuid limit 1`
  return batch?.id
}

/** Attempts of all deliveries of an account. */
export interface RecentAttempts {
  readonly count: number
  /** The seconds within which they were counted, at most five minutes. */
  readonly seconds: number
}

/**
 * Counts the account's latest attempts by their events, which have an index in this order: it reads the same number of rows for any account.
 * Attempts and finished deliveries have no index by time.
 */
export async function recentAttempts(sql: AnySql, accountId: number): Promise<RecentAttempts> {
  const { events, seconds } = COUNTED
  const [row] = await sql<RecentAttempts[]>`
    select (count(*) filter (where type in ('sent', 'bounced', 'deferred', 'dropped', 'expired')
                               and occurred_at > service_now() - make_interval(secs => ${seconds})))::int as count,
           (case when count(*) < ${events} then ${seconds}::float8
                 else least(${seconds}::float8, extract(epoch from service_now() - min(occurred_at))::float8) end) as seconds
      from (select type, occurred_at from events where account_id = ${accountId}::int
             order by account_id desc, transaction desc limit ${events}) latest`
  return row ?? { count: 0, seconds }
}

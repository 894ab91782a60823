import { type NextAttempt, nextAttemptOf } from '../../delivery/outcomes/next-attempt.ts'
import type { TlsOrigin } from '../../delivery/tls/levels.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import { parseMessageId } from '../../submission/message-id.ts'
import type { NotifyWord, StoredNotifications } from '../../submission/status-notifications.ts'
import { transactionNumber } from '../../submission/transaction-numbers.ts'
import { selectCausedBy } from '../../suppressions/store.ts'
import type { Suppression } from '../../suppressions/suppression.ts'
import { type DeliveryWhy, explainIn, MAX_EXPLAINED } from '../why/index.ts'
import { type BouncedLate, lateBounceOf } from './late-bounce.ts'
import { hasAttachment, keepsContent } from './list-conditions.ts'

export interface ShowOptions {
  /** Only a message of this account; any other one does not exist. */
  readonly accountId?: number | undefined
  /** A page of a message with many recipients; if absent, all of them with all attempts and events. */
  readonly page?: MessagePage | undefined
}

/** The deliveries from a number on, at most {@link MAX_EXPLAINED}, each with an explanation and its latest ten attempts. */
export interface MessagePage {
  readonly fromRecipient: number
}

export interface MessageDetails {
  readonly id: string
  readonly accountId: number
  readonly door: string
  readonly acceptedAt: Date
  readonly scheduledAt: Date | null
  readonly from: string
  readonly subject: string
  readonly tags: readonly string[]
  readonly settings: unknown
  readonly size: number
  /** The number of its deliveries. */
  readonly recipients: number
  readonly keyId: number | null
  readonly clientAddress: string | null
  readonly hasAttachment: boolean
  /** Whether its body is still stored, so that it can be shown and sent again. */
  readonly isBodyStored: boolean
  /** Whether its content stays stored after the last outcome. */
  readonly keepsContent: boolean
  /** The message that it is sent again from, in 32 hex digits; null if it is a first one. */
  readonly resentFrom: string | null
  /** The corrections of a MIME message when it was accepted, in words; null if there were none. */
  readonly corrected: string | null
  /** The address that gets notifications of its deliveries by mail, with RET and ENVID; null if there are no notifications. */
  readonly notifications: Omit<StoredNotifications, 'notify'> | null
  /** The messages by which it was sent again, the first 20; 32 hex digits. */
  readonly resentAs: readonly string[]
  readonly deliveries: readonly DeliveryDetails[]
  readonly events: readonly EventDetails[]
  /** Whether there are more events of these deliveries than are shown. */
  readonly hasMoreEvents: boolean
  /** Those that its deliveries caused and that still exist. */
  readonly suppressions: readonly Suppression[]
}

export interface DeliveryDetails extends NextAttempt, BouncedLate {
  readonly recipientNo: number
  /** v2 TRANSID. */
  readonly transactionNumber: string
  readonly state: string
  readonly recipient: string
  readonly kind: string
  readonly reference: string | null
  readonly attempt: number
  readonly expiresAt: Date | null
  readonly reason: string | null
  readonly finishedAt: Date | null
  /** The kinds of notifications that its sender gets by mail (RFC 3461), also by the account's setting; null if the message has no notifications. */
  readonly notify: readonly NotifyWord[] | null
  /** The sender's own data; null if there is none. */
  readonly metadata: Readonly<Record<string, string>> | null
  /** ORCPT, if it is another address: its type, `;`, and the address. */
  readonly originalRecipient: string | null
  readonly attempts: readonly AttemptDetails[]
  /** Why it is not further; absent unless a page was requested. */
  readonly why?: DeliveryWhy | undefined
}

export interface AttemptDetails {
  readonly recipientNo: number
  readonly attempt: number
  readonly outcome: string
  readonly indeterminate: boolean
  readonly startedAt: Date
  readonly milliseconds: number
  readonly stage: string | null
  readonly host: string | null
  readonly address: string | null
  /** The provider or site where it was offered, with the source address if one is configured; null if it was not offered. */
  readonly place: string | null
  readonly tls: string | null
  /** The TLS level that was demanded: required, verified, sts or dane; null if TLS was to be used where it is offered. */
  readonly tlsPolicy: string | null
  /** Where that demand comes from (levels.ts); null without one. */
  readonly tlsOrigin: TlsOrigin | null
  /** Whether the certificate was valid for the host; null without TLS. */
  readonly tlsVerified: boolean | null
  readonly code: number | null
  readonly enhanced: string | null
  readonly reply: string | null
  readonly conversation: unknown
}

export interface EventDetails {
  readonly id: string
  readonly occurredAt: Date
  readonly type: string
  readonly recipientNo: number | null
  readonly detail: unknown
}

type Derived = 'deliveries' | 'events' | 'hasMoreEvents' | 'suppressions' | 'resentAs' | 'notifications'
type MessageRow = Omit<MessageDetails, Derived> & {
  readonly transactionBase: string
  readonly notifications: StoredNotifications | null
}

/** The latest attempts of a delivery on a page, and events of all its deliveries. */
const MAX_ATTEMPTS = 10
const MAX_EVENTS = 1000
const MAX_RESENT = 20
/** Events of a message that are read for a page of them. They are found by the message alone. */
const MAX_EVENTS_READ = 50_000

/**
 * Returns a message with its deliveries, attempts and events from one snapshot, so that a state is never shown without the attempt
 * that led to it. Each statement reads only the partitions from the message's week on.
 */
export async function showMessage(
  sql: Sql,
  messageId: string,
  options: ShowOptions = {},
): Promise<MessageDetails | undefined> {
  const id = parseMessageId(messageId)
  if (id === undefined) return undefined
  return sql.begin('isolation level repeatable read read only', (snapshot) =>
    readDetails(snapshot, id, options),
  ) as Promise<MessageDetails | undefined>
}

async function readDetails(
  sql: AnySql,
  messageId: string,
  { accountId, page }: ShowOptions,
): Promise<MessageDetails | undefined> {
  const [message] = await sql<MessageRow[]>`
    select replace(m.id::text, '-', '') as id, account_id as "accountId", door, accepted_at as "acceptedAt",
           scheduled_at as "scheduledAt", from_address as "from", subject, tags, settings, size, recipients,
           api_key_id as "keyId", host(client_address) as "clientAddress", ${hasAttachment(sql)} as "hasAttachment",
           (select count(*) from bodies b where b.message_id = m.id) = parts as "isBodyStored",
           settings->>'resentFrom' as "resentFrom", settings->>'corrected' as corrected,
           ${keepsContent(sql)} as "keepsContent",
           settings->'notifications' as notifications,
           transaction_base as "transactionBase"
      from messages m
     where m.id = ${messageId}::uuid ${accountId === undefined ? sql`` : sql`and account_id = ${accountId}::int`}`
  if (!message) return undefined
  const { transactionBase, notifications, ...rest } = message
  const { notify: common = null, ...asked } = notifications ?? {}
  const deliveries = await readDeliveries(sql, messageId, page)
  const numbers = deliveries.map(({ recipientNo }) => recipientNo)
  const attempts = Map.groupBy(await readAttempts(sql, messageId, page && numbers), ({ recipientNo }) => recipientNo)
  const { events, hasMoreEvents } = await readEvents(sql, message, messageId, page && numbers)
  const shown = new Set(numbers)
  const resent = await sql<{ id: string }[]>`
    select replace(id::text, '-', '') as id from messages
     where settings ? 'resentFrom' and settings->>'resentFrom' = ${message.id} and id > ${messageId}::uuid
       and account_id is not distinct from ${message.accountId}::int
     order by messages.id limit ${MAX_RESENT}`
  const caused = await selectCausedBy(sql, message.accountId, messageId)
  const explained = page && (await explainIn(sql, { accountId: message.accountId, messageId, ...page }))
  const why = new Map(explained?.deliveries.map((one) => [one.recipientNo, one]))
  return {
    ...rest,
    notifications: notifications && (asked as Omit<StoredNotifications, 'notify'>),
    resentAs: resent.map(({ id }) => id),
    deliveries: deliveries.map((delivery) => ({
      ...delivery,
      notify: delivery.notify ?? common,
      transactionNumber: transactionNumber(transactionBase, delivery.recipientNo),
      attempts: attempts.get(delivery.recipientNo) ?? [],
      ...(page ? { why: why.get(delivery.recipientNo) } : {}),
    })),
    events,
    hasMoreEvents,
    suppressions: page
      ? caused.filter(({ cause }) => cause?.recipientNo != null && shown.has(cause.recipientNo))
      : caused,
  }
}

type DeliveryRow = Omit<DeliveryDetails, 'transactionNumber' | 'attempts' | 'why'>

async function readDeliveries(sql: AnySql, messageId: string, page: MessagePage | undefined): Promise<DeliveryRow[]> {
  const chosen = page
    ? sql`and recipient_no >= ${page.fromRecipient}::int order by recipient_no limit ${MAX_EXPLAINED}`
    : sql`order by recipient_no`
  const personal = sql`
    select personal from delivery_queue q where q.message_id = d.message_id and q.recipient_no = d.recipient_no
    union all select personal from finished_deliveries f where f.message_id = d.message_id and f.recipient_no = d.recipient_no
     limit 1`
  return sql<DeliveryRow[]>`
    select d.recipient_no as "recipientNo", state, recipient, kind, reference, attempt, planned_at as "nextAt",
           coalesce(is_paused, false) as "isPaused", coalesce(is_held, false) as "isHeld", expires_at as "expiresAt", reason,
           finished_at as "finishedAt", b.bounced_at as "bouncedAt", b.bounce,
           p.personal->'notify' as notify, p.personal->'customArgs' as metadata,
           p.personal->>'originalRecipient' as "originalRecipient"
      from (select * from deliveries where message_id = ${messageId}::uuid ${chosen}) d
      left join lateral (
       select n.* from delivery_queue q cross join lateral (${nextAttemptOf(sql)}) n
        where q.message_id = d.message_id and q.recipient_no = d.recipient_no) n on true
      left join lateral (${personal}) p on true
      left join lateral (${lateBounceOf(sql)}) b on true
     order by d.recipient_no`
}

/** Returns the latest attempts of these deliveries, or all attempts of the message. */
async function readAttempts(
  sql: AnySql,
  messageId: string,
  numbers: readonly number[] | undefined,
): Promise<AttemptDetails[]> {
  const columns = sql`
    recipient_no as "recipientNo", attempt, outcome, indeterminate, started_at as "startedAt", milliseconds, stage,
    host, address, place, tls, tls_policy as "tlsPolicy", tls_origin as "tlsOrigin", tls_verified as "tlsVerified", code, enhanced, reply, conversation`
  if (!numbers) {
    return sql<AttemptDetails[]>`
      select ${columns} from attempts where message_id = ${messageId}::uuid order by recipient_no, attempt`
  }
  return sql<AttemptDetails[]>`
    select a.* from unnest(${[...numbers]}::int[]) as d(no) cross join lateral (
      select ${columns} from attempts where message_id = ${messageId}::uuid and recipient_no = d.no
       order by attempt desc limit ${MAX_ATTEMPTS}) a
     order by a."recipientNo", a.attempt`
}

async function readEvents(
  sql: AnySql,
  { acceptedAt }: MessageRow,
  messageId: string,
  numbers: readonly number[] | undefined,
): Promise<{ events: EventDetails[]; hasMoreEvents: boolean }> {
  const own = sql`
    select id, occurred_at, type, recipient_no, detail
      from events where message_id = ${messageId}::uuid and occurred_at >= ${acceptedAt} - interval '1 day'`
  const columns = sql`id, occurred_at as "occurredAt", type, recipient_no as "recipientNo", detail`
  if (!numbers) {
    const events = await sql<EventDetails[]>`select ${columns} from (${own}) e order by occurred_at, id`
    return { events, hasMoreEvents: false }
  }
  const events = await sql<EventDetails[]>`
    select ${columns} from (${own} limit ${MAX_EVENTS_READ}) e
     where recipient_no is null or recipient_no = any(${[...numbers]}::int[])
     order by occurred_at, id limit ${MAX_EVENTS + 1}`
  return { events: events.slice(0, MAX_EVENTS), hasMoreEvents: events.length > MAX_EVENTS }
}

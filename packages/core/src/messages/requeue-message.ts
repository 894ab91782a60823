import { type Actor, noteChange } from '../accounts/audit/index.ts'
import type { AddedContent } from '../composition/added-content.ts'
import { keepPartitions, lockBodies } from '../delivery/deletion-locks.ts'
import type { Flow } from '../delivery/flows.ts'
import { lossOf } from '../domains/loss.ts'
import { insertEvents } from '../events/insert-events.ts'
import { parseAddress } from '../mime/address.ts'
import { onlyRow, type Sql, type SqlTransaction } from '../platform/database/database.ts'
import { messageIdText, parseMessageId } from '../submission/message-id.ts'
import type { Forgotten } from '../suppressions/forgotten.ts'
import { matchingSuppression } from '../suppressions/store.ts'
import { type QueueColumns, queueColumnsOf } from './queue-columns.ts'

/** Why a delivery is not requeued. */
export type RequeueRefusal =
  /** The delivery's own state: in the queue, delivered or dropped. */
  | { readonly why: 'state' }
  /** The recipient's data were erased. */
  | { readonly why: 'erased' }
  /** After an attempt it is unknown whether the server has the message. */
  | { readonly why: 'indeterminate' }
  | { readonly why: 'suppressed'; readonly by: HoldingEntry }

/** The suppression that applies to a recipient. */
export interface HoldingEntry {
  readonly reason: string
  readonly scope: 'address' | 'domain' | 'group'
  readonly value: string
  /** 0 if it applies to all mail. */
  readonly group: number
  /** Whether it applies to all accounts. */
  readonly global: boolean
}

/** Why no delivery of a message is requeued. */
export type RequeueProblem = 'recipient-unknown' | 'body-deleted' | 'domain-lost' | 'erasing' | 'dropping'

export interface RequeueTarget {
  /** Either form of the id. */
  readonly messageId: string
  /** Only deliveries to this address; if undefined, all. */
  readonly recipient?: string | undefined
}

export interface RequeueResult {
  /** 32 hex digits. */
  readonly id: string
  readonly accountId: number
  readonly problem: RequeueProblem | null
  readonly requeued: readonly RequeuedDelivery[]
  readonly refused: readonly (RequeuedDelivery & { readonly refusal: RequeueRefusal })[]
}

export interface RequeuedDelivery {
  readonly recipientNo: number
  readonly recipient: string
  /** The state before. */
  readonly state: string
  /** The reason of a drop; null for other states. */
  readonly reason: string | null
  /** The last attempt. The next one has the following number. */
  readonly attempt: number
}

interface Dependencies {
  readonly sql: Sql
  readonly forgotten: Forgotten
  readonly announce: (flow: Flow) => void
}

/**
 * Requeues the bounced and expired deliveries of a message: they are due immediately, for as long as a new message, and continue their
 * attempt numbers. Returns undefined if the message does not exist. A delivery is not requeued if it may have been delivered, if its
 * recipient is suppressed or was erased, or if the body of its message is no longer stored.
 *
 * One statement moves the rows from `finished_deliveries` to the queue and inserts a `deferred` event for each, so a delivery is always in
 * exactly one of the two tables. Concurrent calls requeue a delivery once: the account's lock serializes them.
 *
 * Statistics count events, and no event is taken back: a delivery that bounced and was delivered after a requeue counts once as processed,
 * bounced, deferred and sent, and its delivery time includes the time until the requeue. A recount from the events has the same result.
 */
export async function requeueMessage(
  { sql, forgotten, announce }: Dependencies,
  { messageId, recipient }: RequeueTarget,
  by: Actor,
): Promise<RequeueResult | undefined> {
  const id = parseMessageId(messageId)
  if (id === undefined) return undefined
  const result = (await sql.begin(async (transaction) => {
    const message = await selectMessage(transaction, id)
    if (!message) return undefined
    const { accountId, settings } = message
    const none = { id: messageIdText(id), accountId, class: queueColumnsOf(settings).class, requeued: [], refused: [] }
    if (!(await keepPartitions(transaction))) return { ...none, problem: 'dropping' as const }
    await lockBodies(transaction, accountId)
    const judged = await judge(transaction, forgotten, { id, accountId, recipient, columns: queueColumnsOf(settings) })
    if (judged.length === 0) return { ...none, problem: 'recipient-unknown' as const }
    const refused = judged.flatMap(({ refusal, ...one }) => (refusal ? [{ ...one, refusal }] : []))
    const wanted = judged.flatMap(({ refusal, ...one }) => (refusal ? [] : [one]))
    if (wanted.length === 0) return { ...none, problem: null, refused }
    const problem = await problemOf(transaction, id, message)
    if (problem) return { ...none, problem }
    await move(transaction, id, wanted, queueColumnsOf(settings))
    const object = `message ${messageIdText(id)}`
    const after = { requeued: wanted.length }
    await noteChange(transaction, { accountId, by, action: 'message.requeue', object, after })
    return { ...none, problem: null, requeued: wanted, refused }
  })) as (RequeueResult & { class: Flow['class'] }) | undefined
  if (!result) return undefined
  const { class: of, ...shown } = result
  if (shown.requeued.length > 0) announce({ accountId: shown.accountId, class: of })
  return shown
}

interface RequeuedMessage {
  readonly accountId: number
  readonly domainId: number
  readonly settings: AddedContent
  readonly parts: number
}

async function selectMessage(sql: SqlTransaction, id: string): Promise<RequeuedMessage | undefined> {
  const [message] = await sql<RequeuedMessage[]>`
    select account_id as "accountId", domain_id as "domainId", settings, parts from messages where id = ${id}::uuid`
  return message
}

async function problemOf(
  sql: SqlTransaction,
  id: string,
  { accountId, domainId, parts }: RequeuedMessage,
): Promise<RequeueProblem | undefined> {
  const { stored, erasing, lost } = onlyRow(
    await sql<{ stored: number; erasing: boolean; lost: boolean }[]>`
      select (select count(*)::int from bodies where message_id = ${id}::uuid) as stored,
             exists (select from forget_requests where account_id = ${accountId} and state <> 'done') as erasing,
             ${lossOf(sql, sql`${domainId}::int`)} is not null as lost`,
  )
  if (stored !== parts) return 'body-deleted'
  // An erasure removes per-recipient data before the body, and does not expect finished deliveries to return to the queue.
  if (erasing) return 'erasing'
  return lost ? 'domain-lost' : undefined
}

interface Question {
  readonly id: string
  readonly accountId: number
  readonly recipient: string | undefined
  readonly columns: QueueColumns
}

type Judged = RequeuedDelivery & { readonly refusal: RequeueRefusal | undefined }

interface Row extends RequeuedDelivery {
  readonly key: string
  readonly indeterminate: boolean
  readonly entry: HoldingEntry | null
}

/** Matches pseudonyms of erased recipients (retention/privacy). */
const PSEUDONYM = /^forgotten-[0-9a-f]{20}$/

async function judge(sql: SqlTransaction, forgotten: Forgotten, question: Question): Promise<Judged[]> {
  const { id, accountId, recipient, columns } = question
  const { groupId: group, bypass } = columns
  const key = recipient === undefined ? null : (parseAddress(recipient)?.key ?? recipient.toLowerCase())
  const lookedUp = {
    account: sql`d.account_id`,
    key: sql`d.recipient_key`,
    domain: sql`d.recipient_domain`,
    group: sql`${group}::int`,
    bypass: sql`string_to_array(${bypass?.join() ?? null}::text, ',')`,
  }
  const entry = sql`
    json_build_object('reason', s.reason, 'scope', s.scope, 'value', s.value, 'group', s.group_id, 'global', s.account_id = 0) as entry`
  const rows = await sql<Row[]>`
    select d.recipient_no as "recipientNo", d.recipient, d.recipient_key as key, d.state, d.reason, d.attempt, s.entry,
           exists (select from attempts a where a.message_id = ${id}::uuid and a.recipient_no = d.recipient_no and a.indeterminate)
             as indeterminate
      from deliveries d left join lateral (${matchingSuppression(sql, lookedUp, entry)} limit 1) s on true
     where d.message_id = ${id}::uuid and (${key}::text is null or d.recipient_key = ${key}::text)
     order by d.recipient_no`
  const hashed = await forgotten.reasons(rows.map((row) => ({ accountId, key: row.key, group, bypass })))
  return rows.map(({ key: value, indeterminate, entry: listed, ...delivery }, at) => {
    const { recipientNo, recipient, state, reason, attempt } = delivery
    const optedOut = hashed[at]
    const by = listed ?? (optedOut ? { reason: optedOut, scope: 'address', value, group: 0, global: false } : undefined)
    const refusal = refusalOf({
      state,
      erased: PSEUDONYM.test(value),
      indeterminate,
      by: by as HoldingEntry | undefined,
    })
    return { recipientNo, recipient, state, reason, attempt, refusal }
  })
}

function refusalOf(delivery: {
  readonly state: string
  readonly erased: boolean
  readonly indeterminate: boolean
  readonly by: HoldingEntry | undefined
}): RequeueRefusal | undefined {
  const { state, erased, indeterminate, by } = delivery
  if (state !== 'bounced' && state !== 'expired') return { why: 'state' }
  if (erased) return { why: 'erased' }
  if (indeterminate) return { why: 'indeterminate' }
  return by ? { why: 'suppressed', by } : undefined
}

const REPLY = 'requeued by the operator'

/** Moves deliveries to the queue, in one statement. */
async function move(
  sql: SqlTransaction,
  id: string,
  wanted: readonly RequeuedDelivery[],
  { class: of, groupId, bypass, lifetime }: QueueColumns,
): Promise<void> {
  const { count } = await sql`
    with moved as (
      delete from finished_deliveries f
       where f.message_id = ${id}::uuid and f.recipient_no = any(${wanted.map(({ recipientNo }) => recipientNo)}::int[])
         and f.state in ('bounced', 'expired')
      returning f.*
    ), queued as (
      insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
             reference, personal, attempt, class, group_id, bypass, next_at, expires_at)
      select message_id, recipient_no, account_id, 'deferred', recipient, recipient_key, recipient_domain, kind,
             reference, personal, attempt, ${of}::int, ${groupId}::int, string_to_array(${bypass?.join() ?? null}::text, ','),
             service_now(), service_now() + make_interval(secs => ${lifetime}::int)
        from moved
    ), new_events as (
      ${insertEvents(sql, {
        from: sql`moved`,
        type: 'deferred',
        detail: sql`jsonb_build_object('attempt', attempt, 'reason', 'operator', 'reply', ${REPLY}::text, 'nextAt', service_now())`,
      })}
    )
    select 1 from moved`
  if (count !== wanted.length) throw new Error(`${count} of ${wanted.length} deliveries could be moved to the queue`)
}

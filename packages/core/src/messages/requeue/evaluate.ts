import type { AddedContent } from '../../composition/added-content.ts'
import { lossOf } from '../../domains/loss.ts'
import type { AnySql } from '../../platform/database/database.ts'
import type { Forgotten } from '../../suppressions/forgotten.ts'
import { matchingSuppression } from '../../suppressions/store.ts'
import { type QueueColumns, queueColumnsOf } from '../queue-columns.ts'

type Fragment = ReturnType<AnySql>

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

/** Why no delivery of a message is requeued: its own state, or that of its account. */
export type MessageRequeueProblem = 'body-deleted' | 'domain-lost' | 'erasing'

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

export interface RequeuedMessage {
  /** UUID. */
  readonly id: string
  readonly accountId: number
  readonly columns: QueueColumns
  /** Null if its deliveries may be requeued. */
  readonly problem: MessageRequeueProblem | null
}

/** Returns the messages with what a requeue needs. Must be called after `lockBodies` of their accounts, if they are requeued. */
export async function selectMessages(sql: AnySql, ids: readonly string[]): Promise<RequeuedMessage[]> {
  const rows = await sql<
    {
      id: string
      accountId: number
      settings: AddedContent
      isStored: boolean
      erasing: boolean
      lost: boolean
    }[]
  >`
    with erasing as materialized (select distinct account_id from forget_requests where state <> 'done')
    select m.id::text as id, m.account_id as "accountId", m.settings,
           (select count(*) from bodies b where b.message_id = w.id) = m.parts as "isStored",
           m.account_id in (select account_id from erasing) as erasing,
           ${lossOf(sql, sql`m.domain_id`)} is not null as lost
      from unnest(${[...ids]}::uuid[]) as w(id)
     cross join lateral (select * from messages where id = w.id offset 0) m`
  return rows.map(({ id, accountId, settings, isStored, erasing, lost }) => ({
    id,
    accountId,
    columns: queueColumnsOf(settings),
    // An erasure removes per-recipient data before the body, and does not expect finished deliveries to return to the queue.
    problem: !isStored ? 'body-deleted' : erasing ? 'erasing' : lost ? 'domain-lost' : null,
  }))
}

export type EvaluatedDelivery = RequeuedDelivery & {
  readonly message: RequeuedMessage
  readonly refusal: RequeueRefusal | undefined
}

interface Row extends RequeuedDelivery {
  readonly messageId: string
  readonly key: string
  readonly indeterminate: boolean
  readonly entry: HoldingEntry | null
}

/** Matches pseudonyms of erased recipients (retention/privacy). */
const PSEUDONYM = /^forgotten-[0-9a-f]{20}$/

/**
 * Decides which deliveries of these messages may be requeued: those that bounced or expired, that the server cannot have, and whose recipient
 * is neither suppressed nor erased. `from` is a relation with rows of the view `deliveries`.
 */
export async function evaluateDeliveries(
  sql: AnySql,
  forgotten: Forgotten,
  messages: readonly RequeuedMessage[],
  from: Fragment,
): Promise<EvaluatedDelivery[]> {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const columns = messages.map((message) => message.columns)
  const lookedUp = {
    account: sql`d.account_id`,
    key: sql`d.recipient_key`,
    domain: sql`d.recipient_domain`,
    group: sql`m.group_id`,
    bypass: sql`string_to_array(m.bypass, ',')`,
  }
  const entry = sql`
    json_build_object('reason', s.reason, 'scope', s.scope, 'value', s.value, 'group', s.group_id, 'global', s.account_id = 0) as entry`
  const rows = await sql<Row[]>`
    select d.message_id::text as "messageId", d.recipient_no as "recipientNo", d.recipient, d.recipient_key as key, d.state, d.reason,
           d.attempt, s.entry,
           exists (select from attempts a where a.message_id = d.message_id and a.recipient_no = d.recipient_no and a.indeterminate
                     offset 0)
             as indeterminate
      from ${from} d
      join unnest(${messages.map(({ id }) => id)}::uuid[], ${columns.map(({ groupId }) => groupId)}::int[],
                  ${columns.map(({ bypass }) => bypass?.join() ?? null)}::text[]) as m(id, group_id, bypass) on m.id = d.message_id
      left join lateral (${matchingSuppression(sql, lookedUp, entry)} limit 1) s on true
     order by d.message_id, d.recipient_no`
  const messageOf = ({ messageId }: Row) => byId.get(messageId) as RequeuedMessage
  const hashed = await forgotten.reasons(
    rows.map((row) => {
      const { accountId, columns } = messageOf(row)
      return { accountId, key: row.key, group: columns.groupId, bypass: columns.bypass }
    }),
  )
  return rows.map((row, at) => {
    const { messageId: _, key: value, indeterminate, entry: listed, ...delivery } = row
    const optedOut = hashed[at]
    const by = listed ?? (optedOut ? { reason: optedOut, scope: 'address', value, group: 0, global: false } : undefined)
    const facts = { ...delivery, erased: PSEUDONYM.test(value), indeterminate, by: by as HoldingEntry | undefined }
    return { ...delivery, message: messageOf(row), refusal: refusalOf(facts) }
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

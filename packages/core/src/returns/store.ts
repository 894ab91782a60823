import { deflateSync, inflateSync } from 'node:zlib'
import type { ReturnPathTarget } from '../delivery/return-path.ts'
import { type AnySql, onlyRow } from '../platform/database/database.ts'
import type { Applied } from './apply-reading.ts'
import type { Role } from './return-address.ts'
import type { Forward, Reading, ReportKind, ReturnEffect, ReturnKind } from './return-result.ts'

/** Octets of a message that are kept. The beginning of a report says what happened; the rest is the returned message. */
const MAX_CONTENT = 256 * 1024
/** Reports without an effect that are stored for one delivery. A server may send one every hour. */
const MAX_WITHOUT_EFFECT = 5

/** Messages whose content is kept at once: of those with a valid mark, and of others, since anybody can write to the operator; rows without a mark. */
export const RETURN_LIMITS: ReturnLimits = { kept: 10_000, unmatched: 100_000 }

interface Outcome {
  readonly reading: Reading | { readonly kind: ReportKind }
  readonly applied: Applied
}

export interface NewReturn extends Outcome {
  readonly id: string
  /** Null if it has no valid mark. */
  readonly messageId: string | null
  readonly recipientNo: number | null
  readonly role: Role | null
  readonly reporter: string
  readonly size: number
  /** Null if it is not kept, as is `sentTo`, the address that it was sent to. */
  readonly content: Buffer | null
  readonly sentTo: string | null
  /** MAIL FROM; null if it is unknown. */
  readonly mailFrom: string | null
  /** Whether it is to be passed on to the operator, if its content is kept. */
  readonly forwarded: boolean
}

/** Contents kept at once with a mark, and without one; and rows without a mark. Beyond them a content or row is not stored. */
export interface ReturnLimits {
  readonly kept: number
  readonly unmatched: number
}

/** A stored return. */
export interface StoredReturn extends ReturnEffect {
  readonly id: string
  readonly receivedAt: Date
  readonly kind: ReturnKind
  readonly messageId: string | null
  readonly recipientNo: number | null
  /** The address that the message was sent to, or its pseudonym after an erasure; null without a delivery that is still stored. */
  readonly recipient: string | null
  readonly accountId: number | null
  readonly role: Role | null
  /** The bounce class of the failure; null for other kinds. */
  readonly class: string | null
  /** The domain of the sender's address, unverified; empty if there is none. */
  readonly reporter: string
  readonly size: number
  readonly isKept: boolean
  /** MAIL FROM; empty for the null sender, null if it is unknown. Unverified. */
  readonly mailFrom: string | null
  /** Whether it was passed on to the operator; null if it is only kept. */
  readonly forward: Forward | null
  /** When it was passed on, or is tried next. */
  readonly forwardAt: Date | null
  /** The message to the operator. */
  readonly forwardMessageId: string | null
}

/**
 * Whether the content is kept: of what could not be read, or not be tied to a delivery, as a new rule or a person may do that. It names
 * people, so it is not kept for a recipient who was erased.
 */
export function isKept({ reading, applied, messageId }: Outcome & Pick<NewReturn, 'messageId'>): boolean {
  const { kind } = reading
  if (messageId !== null && !applied.delivery) return false
  if (kind === 'complaint' || kind === 'opt-out') return applied.why === 'unsigned'
  return kind === 'letter' || kind === 'unrecognised' || kind === 'failed'
}

/** The fields of a return whose content is not kept. */
export const NOT_KEPT = { content: null, sentTo: null } as const

/** Compresses the part of a message that is kept. */
export function packed(raw: Buffer): Buffer {
  return deflateSync(raw.subarray(0, MAX_CONTENT))
}

/** Reverses {@link packed}. */
export function unpacked(content: Uint8Array): Buffer {
  return inflateSync(content, { maxOutputLength: MAX_CONTENT })
}

/** Returns the id of a new return. It is the database's, as its time orders the list. */
export async function newReturnId(sql: AnySql): Promise<string> {
  return onlyRow(await sql<{ id: string }[]>`select uuidv7() as id`).id
}

/** Whether another return without an effect is stored with this delivery, and its content with it. */
export async function hasRoom(
  sql: AnySql,
  { messageId, recipientNo }: ReturnPathTarget,
  { kept }: ReturnLimits,
): Promise<boolean> {
  const { room } = onlyRow(
    await sql<{ room: boolean }[]>`
      select ${isFewOfDelivery(sql, messageId, recipientNo)} and ${isFewKept(sql, true, kept)} as room`,
  )
  return room
}

/** Conditions of a statement, which count no further than their limits. */
function isFewOfDelivery(sql: AnySql, messageId: string | null, recipientNo: number | null): ReturnType<AnySql> {
  return sql`
    (select count(*) from (
       select from returns where message_id = ${messageId}::uuid and recipient_no = ${recipientNo}::int and effect = 'none'
        limit ${MAX_WITHOUT_EFFECT}::int) earlier) < ${MAX_WITHOUT_EFFECT}::int`
}

function isFewKept(sql: AnySql, isOfDelivery: boolean, most: number): ReturnType<AnySql> {
  return sql`
    (select count(*) from (
       select from returns where content is not null and (message_id is null) = ${!isOfDelivery} limit ${most}::int) k) < ${most}::int`
}

/** Stores a return, unless enough without an effect are stored for its delivery, or without a delivery. */
export async function insertReturn(sql: AnySql, row: NewReturn, limits: ReturnLimits): Promise<void> {
  const { id, messageId, recipientNo, role, size, content, sentTo, mailFrom, forwarded, applied, reading } = row
  const { effect, why, delivery } = applied
  // The domain of an automatic reply is that of its recipient, who may have been erased.
  const isErased = messageId !== null && !delivery
  const reporter = isErased ? '' : row.reporter
  await sql`
    with kept as (
      select case when ${isFewKept(sql, messageId !== null, limits.kept)} then ${content}::bytea end as content
       where ${content}::bytea is not null
    )
    insert into returns (id, kind, message_id, recipient_no, account_id, role, effect, why, class, reporter, size, content, sent_to,
                         mail_from, forward, forward_at)
    select ${id}::uuid, ${reading.kind}, ${messageId}::uuid, ${recipientNo}::int, ${delivery?.accountId ?? null}::int, ${role}, ${effect}, ${why},
           ${classOf(row)}, ${reporter}, ${size}::int, (select content from kept), ${sentTo},
           ${isErased ? null : mailFrom}, f.state, case when f.state is not null then service_now() end
      from (select case when ${forwarded}::boolean and (select content from kept) is not null then 'waiting' end as state) f
     where ${effect} <> 'none'
        or case when ${messageId}::uuid is null
             then (select count(*) from (select from returns where message_id is null limit ${limits.unmatched}::int) unmatched)
                  < ${limits.unmatched}::int
             else ${isFewOfDelivery(sql, messageId, recipientNo)}
           end`
}

/**
 * Stores what a kept return says after it was read again; its content is no longer kept. Returns false if its content was discarded
 * meanwhile, or another process has read it again.
 */
export async function updateReturn(
  sql: AnySql,
  id: string,
  row: Outcome & Pick<NewReturn, 'messageId' | 'recipientNo'>,
): Promise<boolean> {
  const { effect, why, delivery } = row.applied
  const { count } = await sql`
    update returns
       set kind = ${row.reading.kind}, effect = ${effect}, why = ${why}, class = ${classOf(row)}, message_id = ${row.messageId}::uuid,
           recipient_no = ${row.recipientNo}::int, account_id = ${delivery?.accountId ?? null}::int, content = null, sent_to = null,
           forward = nullif(forward, 'waiting')
     where id = ${id}::uuid and content is not null`
  return count === 1
}

/** Deletes some returns of a kind, from one domain if it is given. Returns their number. */
export async function deleteReturns(sql: AnySql, kind: ReturnKind, reporter: string | undefined): Promise<number> {
  const { count } = await sql`
    delete from returns where id in (
      select id from returns where kind = ${kind} and ${reporter === undefined ? sql`true` : sql`reporter = ${reporter}`} limit 1000)`
  return count
}

function classOf({ reading }: Outcome): string | null {
  if (reading.kind !== 'bounce') return null
  return reading.recipients.find(({ action }) => action === 'failed')?.class ?? null
}

/** Returns how many contents without a mark are kept, at most `limit`. */
export async function countKept(sql: AnySql, limit: number): Promise<number> {
  return onlyRow(
    await sql<{ count: number }[]>`
      select count(*)::int as count from (
        select from returns where content is not null and message_id is null limit ${limit}) kept`,
  ).count
}

const columns = (sql: AnySql) => sql`
  replace(id::text, '-', '') as id, received_at as "receivedAt", kind, replace(message_id::text, '-', '') as "messageId",
  recipient_no as "recipientNo", account_id as "accountId", role,
  (select d.recipient from deliveries d where d.message_id = returns.message_id and d.recipient_no = returns.recipient_no limit 1) as recipient,
  effect, why, class, reporter, size, content is not null as "isKept", mail_from as "mailFrom",
  forward, forward_at as "forwardAt", replace(forward_message_id::text, '-', '') as "forwardMessageId"`

export interface ReturnFilter {
  readonly kind?: ReturnKind | undefined
  readonly reporter?: string | undefined
  readonly since?: Date | undefined
  /** Only those about this message. */
  readonly messageId?: string | undefined
  /** Only those before this id. */
  readonly before?: string | undefined
  readonly limit: number
}

/** Returns the newest returns first. */
export async function selectReturns(sql: AnySql, filter: ReturnFilter): Promise<StoredReturn[]> {
  const { kind, reporter, since, messageId, before, limit } = filter
  // A subquery, since the planner would otherwise read all returns in the order of their ids until it finds those of the message.
  const source =
    messageId === undefined
      ? sql`returns`
      : sql`(select * from returns where message_id = ${messageId}::uuid offset 0) returns`
  return sql<StoredReturn[]>`
    select ${columns(sql)} from ${source}
     where ${kind === undefined ? sql`true` : sql`kind = ${kind}`}
       and ${reporter === undefined ? sql`true` : sql`reporter = ${reporter}`}
       and ${since === undefined ? sql`true` : sql`received_at >= ${since}`}
       and ${before === undefined ? sql`true` : sql`id < ${before}::uuid`}
     order by returns.id desc limit ${limit}`
}

export interface KeptReturn extends StoredReturn {
  readonly content: Buffer | null
  /** The address that it was sent to, if the content is kept. */
  readonly sentTo: string | null
}

/** Returns a return with its content; undefined if it does not exist. */
export async function selectReturn(sql: AnySql, id: string): Promise<KeptReturn | undefined> {
  const [row] = await sql<(Omit<KeptReturn, 'content'> & { content: Uint8Array | null })[]>`
    select ${columns(sql)}, content, sent_to as "sentTo" from returns where id = ${id}::uuid`
  return row && { ...row, content: row.content && unpacked(row.content) }
}

/** Returns kept returns of these kinds after an id, in order. Aggregate reports are not among them: the reader of returns does not read them. */
export async function selectKept(
  sql: AnySql,
  { kinds, since, after, limit }: { kinds: readonly ReturnKind[]; since: Date; after: string; limit: number },
): Promise<{ readonly id: string }[]> {
  return sql<{ id: string }[]>`
    select id from returns
     where content is not null and id > ${after}::uuid and kind = any(${[...kinds]}::text[]) and received_at >= ${since}
       and role is distinct from 'dmarc' and role is distinct from 'tlsrpt'
     order by id limit ${limit}`
}

/** Deletes some returns that are older than these days. Returns their number. */
export async function deleteOldReturns(sql: AnySql, days: number): Promise<number> {
  const { count } = await sql`
    delete from returns where id in (
      select id from returns where received_at < service_now() - make_interval(days => ${days}) order by received_at limit 1000)`
  return count
}

import type { TrackingTarget } from '../composition/links/token.ts'
import { insertEvents } from '../events/insert-events.ts'
import type { Sql, SqlTransaction } from '../platform/database/database.ts'

/** What becomes of a request to unsubscribe. */
export type Unsubscribed =
  /** No mail any more: from now on, or since before. */
  | 'done'
  /** The message is no longer kept, and with it whom it went to. */
  | 'unknown'

export interface Leaving {
  readonly target: TrackingTarget
  readonly ip: string
  readonly userAgent: string | null
}

/** Who sent a message, for the page that asks whether one really wants to go. */
export interface SenderOfMessage {
  /** The domain of its From. */
  readonly domain: string
}

export async function senderOf(sql: Sql, { messageId, accountId }: TrackingTarget): Promise<SenderOfMessage | null> {
  const [row] = await sql<SenderOfMessage[]>`
    select split_part(from_address, '@', 2) as domain from messages
     where id = ${messageId}::uuid and account_id = ${accountId}`
  return row ?? null
}

const HASH = /^[\w-]{43}$/

/**
 * Suppresses the recipient of a message, for all mail of the account or for the group the link names, and tells it as an event,
 * in one transaction. Asked again it changes nothing and tells nothing.
 */
export async function unsubscribe(sql: Sql, leaving: Leaving): Promise<Unsubscribed> {
  const { target } = leaving
  return sql.begin(async (transaction) => {
    const [account] = await transaction`
      select 1 from accounts where id = ${target.accountId} and state <> 'deleted'`
    // Nobody will write to him any more.
    if (!account) return 'done'
    const key = await recipientKey(transaction, target)
    if (key) {
      await suppress(transaction, leaving, key)
      return 'done'
    }
    if (!HASH.test(target.url)) return 'unknown'
    await suppressHash(transaction, target)
    return 'done'
  }) as Promise<Unsubscribed>
}

/** Locked, so that the recipient is not forgotten meanwhile. Undefined: he was, or the message is no longer kept. */
async function recipientKey(sql: SqlTransaction, target: TrackingTarget): Promise<string | undefined> {
  const { messageId, recipientNo, accountId } = target
  // The queue first: what is in neither when asked has left it in between.
  const [waiting] = await sql<{ key: string }[]>`
    select recipient_key as key from delivery_queue
     where message_id = ${messageId}::uuid and recipient_no = ${recipientNo} and account_id = ${accountId}
       for key share`
  const [finished] = await sql<{ key: string }[]>`
    select recipient_key as key from finished_deliveries
     where message_id = ${messageId}::uuid and recipient_no = ${recipientNo} and account_id = ${accountId}
       for share`
  const key = (finished ?? waiting)?.key
  // A pseudonym is no address.
  return key?.includes('@') ? key : undefined
}

/**
 * What the person says himself goes before what was found out or written down about him: an entry for another reason could be
 * taken off, or end. A complaint stays: it says more.
 */
async function suppress(sql: SqlTransaction, { target, ip, userAgent }: Leaving, key: string): Promise<void> {
  const { accountId, messageId, recipientNo, group } = target
  await sql`
    with entry as (
      insert into suppressions as s (account_id, scope, value, group_id, reason)
      values (${accountId}, ${group > 0 ? 'group' : 'address'}, ${key}, ${group}, 'unsubscribe')
      on conflict (account_id, value, group_id) do update
         set reason = excluded.reason, since = service_now(), held_until = null
       where s.reason not in ('unsubscribe', 'abuse') or s.held_until is not null
      returning account_id
    )
    ${insertEvents(sql, {
      from: sql`(
        select account_id, ${messageId}::uuid as message_id, ${recipientNo}::int as recipient_no, a.privacy_mode
          from entry join accounts a on a.id = entry.account_id) unsubscribed`,
      type: 'unsubscribed',
      detail: sql`
        jsonb_strip_nulls(jsonb_build_object(
          'ip', case when not privacy_mode then ${ip}::text end,
          'userAgent', case when not privacy_mode then ${userAgent}::text end,
          'group', nullif(${group}::int, 0)))`,
    })}`
}

/** Without an event: there is nobody to tell of. Every process looks for it within seconds (suppressions/forgotten.ts). */
async function suppressHash(sql: SqlTransaction, { accountId, group, url }: TrackingTarget): Promise<void> {
  const hash = Buffer.from(url, 'base64url').toString('hex')
  await sql`insert into forgotten_accounts (account_id) values (${accountId}) on conflict do nothing`
  await sql`
    insert into forgotten as f (account_id, hash, group_id, reason, since)
    values (${accountId}, decode(${hash}, 'hex'), ${group}, 'unsubscribe', service_now())
    on conflict (account_id, hash, group_id) do update
       set reason = excluded.reason, since = excluded.since, held_until = null
     where f.reason not in ('unsubscribe', 'abuse') or f.held_until is not null`
}

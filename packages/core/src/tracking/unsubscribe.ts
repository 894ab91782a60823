import type { TrackingTarget } from '../composition/links/token.ts'
import { settleDelivered } from '../delivery/outcomes/settle-delivered.ts'
import type { SqlTransaction } from '../platform/database/database.ts'
import { hashedAgain } from '../suppressions/forgotten.ts'
import { addedAgain } from '../suppressions/store.ts'
import { insertChoiceEvents, type ReaderChoice } from './choice-events.ts'

/** The result of an unsubscribe request. */
export type Unsubscribed =
  /** The recipient is unsubscribed, by this request or before. */
  | 'done'
  /** The message and its recipient are no longer stored. */
  | 'unknown'

export interface UnsubscribeRequest extends ReaderChoice {
  /** The report, if it came by one. */
  readonly returnId?: string | null
}

const HASH = /^[\w-]{43}$/

/**
 * Suppresses the recipient of a message, for all mail of the account or for the link's group, and creates an event. Repeated requests have no
 * effect.
 */
export async function unsubscribe(sql: SqlTransaction, request: UnsubscribeRequest): Promise<Unsubscribed> {
  const { target } = request
  const [account] = await sql`select 1 from accounts where id = ${target.accountId} and state <> 'deleted'`
  // A deleted account no longer sends mail.
  if (!account) return 'done'
  // Before the delivery is locked: to delete a row that another transaction has locked, too, each would wait for the other.
  await settleDelivered(sql, [{ ...target, kind: 'unsubscribed' }])
  const key = await recipientKey(sql, target)
  if (key) {
    await suppress(sql, request, key, [target.group])
    return 'done'
  }
  if (!HASH.test(target.url)) return 'unknown'
  await suppressHash(sql, target)
  return 'done'
}

/** Locks a delivery against erasure and returns its recipient; undefined if erased or if the message is no longer stored. */
export async function recipientKey(sql: SqlTransaction, target: TrackingTarget): Promise<string | undefined> {
  const { messageId, recipientNo, accountId } = target
  // The queue first: a delivery that finishes between the two queries is found by the second one.
  const [waiting] = await sql<{ key: string }[]>`
    select recipient_key as key from delivery_queue
     where message_id = ${messageId}::uuid and recipient_no = ${recipientNo} and account_id = ${accountId}
       for key share`
  const [finished] = await sql<{ key: string }[]>`
    select recipient_key as key from finished_deliveries
     where message_id = ${messageId}::uuid and recipient_no = ${recipientNo} and account_id = ${accountId}
       for share`
  const key = (finished ?? waiting)?.key
  // The pseudonym of an erased recipient has no @.
  return key?.includes('@') ? key : undefined
}

/**
 * Suppresses an address for groups (0: all mail), and creates an event for each that was not unsubscribed before. An entry that the sender made is
 * back once the recipient takes the unsubscribe back.
 */
export async function suppress(
  sql: SqlTransaction,
  request: UnsubscribeRequest,
  key: string,
  groups: readonly number[],
): Promise<void> {
  const { target, returnId = null } = request
  const { accountId, messageId, recipientNo } = target
  await sql`
    with entry as (
      insert into suppressions as s (account_id, scope, value, group_id, reason, rule, message_id, recipient_no, return_id)
      select ${accountId}::int, case when id > 0 then 'group' else 'address' end, ${key}::text, id, 'unsubscribe',
             ${returnId === null ? 'unsubscribe' : 'opt-out'}::text, ${messageId}::uuid, ${recipientNo}::int, ${returnId}::uuid
        from unnest(${[...groups].sort((a, b) => a - b)}::int[]) as of(id) order by id
      ${addedAgain(sql)}
      returning account_id, group_id
    )
    ${insertChoiceEvents(sql, 'unsubscribed', request)}`
}

/** Suppresses a hash. There is no event, which would need the address. Takes effect in seconds (suppressions/forgotten.ts). */
async function suppressHash(sql: SqlTransaction, { accountId, group, url }: TrackingTarget): Promise<void> {
  const hash = Buffer.from(url, 'base64url').toString('hex')
  await sql`insert into forgotten_accounts (account_id) values (${accountId}) on conflict do nothing`
  await sql`
    insert into forgotten as f (account_id, hash, group_id, reason, since)
    values (${accountId}, decode(${hash}, 'hex'), ${group}, 'unsubscribe', service_now())
    ${hashedAgain(sql)}`
}

import { settleDelivered } from '../delivery/outcomes/settle-delivered.ts'
import type { SqlTransaction } from '../platform/database/database.ts'
import { insertChoiceEvents, type ReaderChoice } from './choice-events.ts'
import { shownGroupIds } from './reader-view.ts'
import { recipientKey, suppress, type Unsubscribed } from './unsubscribe.ts'

/** A recipient's choice on the preferences page. */
export interface GroupChoice {
  /** The groups that were on the page. All others stay as they are. */
  readonly shown: readonly number[]
  /** Those that the recipient wants. */
  readonly wanted: readonly number[]
}

/**
 * Lets mail arrive again: all of it (group 0), or that of the link's group. An entry of all mail is removed only if it is an unsubscribe, and no
 * complaint is ever removed: only the sender can do that. An entry that the unsubscribe had replaced is restored. Repeated requests have no effect.
 */
export async function resubscribe(sql: SqlTransaction, request: ReaderChoice, group: number): Promise<Unsubscribed> {
  const key = await keyOf(sql, request)
  if (key === undefined) return 'unknown'
  await lift(sql, request, key, [group])
  return 'done'
}

/** Applies a choice among the groups that the message shows. Numbers of other groups have no effect. Entries for all mail stay as they are. */
export async function chooseGroups(
  sql: SqlTransaction,
  request: ReaderChoice,
  choice: GroupChoice,
): Promise<Unsubscribed> {
  const key = await keyOf(sql, request)
  if (key === undefined) return 'unknown'
  const known = await shownGroupIds(sql, request.target)
  const wanted = new Set(choice.wanted)
  const chosen = [...new Set(choice.shown)].filter((id) => known.has(id))
  const left = chosen.filter((id) => !wanted.has(id))
  const kept = chosen.filter((id) => wanted.has(id))
  if (left.length > 0) await suppress(sql, request, key, left)
  if (kept.length > 0) await lift(sql, request, key, kept)
  return 'done'
}

/** Undefined if the recipient was erased, or if the message or its account is no longer there. */
async function keyOf(sql: SqlTransaction, { target }: ReaderChoice): Promise<string | undefined> {
  const [account] = await sql`select 1 from accounts where id = ${target.accountId} and state <> 'deleted'`
  if (!account) return undefined
  // Before the delivery is locked, as for an unsubscribe.
  await settleDelivered(sql, [{ ...target, kind: 'clicked' }])
  return recipientKey(sql, target)
}

async function lift(sql: SqlTransaction, request: ReaderChoice, key: string, groups: readonly number[]): Promise<void> {
  const lifted = sql`
    s.account_id = ${request.target.accountId} and s.value = ${key} and s.group_id = any(${[...groups]}::int[])`
  await sql`
    with restored as (
      update suppressions s
         set reason = 'manual', since = manual_since, manual_since = null, rule = null, class = null, message_id = null, recipient_no = null,
             return_id = null
       where ${lifted} and s.reason = 'unsubscribe' and s.manual_since is not null
      returning account_id, group_id
    ), removed as (
      delete from suppressions s
       where ${lifted} and s.reason <> 'abuse' and (s.group_id > 0 or s.reason = 'unsubscribe')
         and not (s.reason = 'unsubscribe' and s.manual_since is not null)
      returning account_id, group_id
    ), entry as (
      select * from restored union all select * from removed
    )
    ${insertChoiceEvents(sql, 'resubscribed', request)}`
}

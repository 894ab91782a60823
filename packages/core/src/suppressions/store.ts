import { type AnySql, onlyRow } from '../platform/database/database.ts'
import { appliesDespiteBypass, type Fragment } from './bypass.ts'
import {
  COUNTED,
  EVERY_ACCOUNT,
  leavesComplaints,
  type MatchingSuppression,
  type Suppression,
  type SuppressionFilter,
  type SuppressionReason,
} from './suppression.ts'
import type { Values } from './values.ts'

/** Whether a complaint is one of a recipient who is unsubscribed, too. */
const isUnsubscribed = (sql: AnySql): Fragment => sql`(s.unsubscribed_since is not null)`

/** The values of a lookup: columns of the surrounding statement, or parameters. */
export interface LookedUp {
  readonly account: Fragment
  /** The recipient in its canonical lower-case form. */
  readonly key: Fragment
  readonly domain: Fragment
  /** The message's unsubscribe group, or null. */
  readonly group: Fragment
  /** The lists the message bypasses, or null. If omitted, none. */
  readonly bypass?: Fragment
}

/** Expired entries do not apply, whether they are already deleted or not. */
const isActive = (sql: AnySql): Fragment => sql`(s.held_until is null or s.held_until > service_now())`

/**
 * Selects the suppressions that apply to a recipient: those of the account by address, domain and group, then those of
 * the operator. One probe of one index; 0 stands for EVERY_ACCOUNT, and for no group. Used with `limit 1` when a
 * message is accepted, when a delivery is claimed, and before end of data.
 */
export function matchingSuppression(
  sql: AnySql,
  { account, key, domain, group, bypass }: LookedUp,
  columns: Fragment,
): Fragment {
  const entry = {
    account: sql`s.account_id`,
    group: sql`s.group_id`,
    reason: sql`s.reason`,
    unsubscribed: isUnsubscribed(sql),
    manual: sql`(s.manual_since is not null)`,
  }
  return sql`
    select ${columns} from suppressions s
     where s.account_id = any(array[${account}, 0]) and s.value = any(array[${key}, ${domain}])
       and s.group_id = any(array[0, ${group}]) and ${isActive(sql)}
       ${bypass ? sql`and ${appliesDespiteBypass(sql, bypass, entry)}` : sql``}
     order by s.account_id desc, s.scope`
}

/** Sets the cause of an existing entry to that of the new one, in `on conflict`. */
export const sameCause = (sql: AnySql): Fragment => sql`
  rule = excluded.rule, class = excluded.class, message_id = excluded.message_id, recipient_no = excluded.recipient_no,
  return_id = excluded.return_id`

/**
 * The rule for an existing entry `s` that an account or a recipient adds again (`on conflict`). An unsubscribe replaces any reason
 * except `abuse`, because entries with other reasons can be removed, bypassed, or expire; since when there was an entry that the sender made is
 * remembered. Of a spam complaint, which is the stronger objection, and an unsubscribe, the entry is the complaint, whichever comes first, and it is
 * remembered since when the recipient is unsubscribed, too. Any other entry keeps its reason, and becomes permanent. Words of another service are added to
 * an entry without any.
 */
export const addedAgain = (sql: AnySql): Fragment => {
  const complained = sql`(excluded.reason = 'abuse' and s.reason = 'unsubscribe')`
  const replaced = sql`
    (excluded.reason = 'unsubscribe' and (s.reason not in ('unsubscribe', 'abuse') or s.held_until is not null) or ${complained})`
  const joined = sql`
    (excluded.reason = 'unsubscribe' and s.reason = 'abuse' and s.unsubscribed_since is null and s.held_until is null)`
  const isTold = sql`(excluded.told is not null and s.told is null and s.reason = excluded.reason)`
  return sql`
    on conflict (account_id, value, group_id) do update
       set held_until = null,
           told = case when ${isTold} then excluded.told else s.told end,
           told_status = case when ${isTold} then excluded.told_status else s.told_status end,
           unsubscribed_since = case when ${joined} then excluded.since when ${complained} then s.since else s.unsubscribed_since end,
           (reason, since, manual_since, rule, class, message_id, recipient_no, return_id) = (
             select excluded.reason, excluded.since,
                    case when ${complained} then s.manual_since when s.reason = 'manual' and s.held_until is null then s.since end,
                    excluded.rule, excluded.class, excluded.message_id, excluded.recipient_no, excluded.return_id
              where ${replaced}
             union all
             select s.reason, s.since, s.manual_since, s.rule, s.class, s.message_id, s.recipient_no, s.return_id where not ${replaced})
     where s.held_until is not null or ${replaced} or ${joined} or ${isTold}`
}

/** The cause of an entry `s`, as JSON. */
export const causeOf = (sql: AnySql): Fragment => sql`
  case when s.rule is not null then jsonb_build_object('rule', s.rule, 'class', s.class, 'messageId', replace(s.message_id::text, '-', ''),
       'recipientNo', s.recipient_no, 'returnId', replace(s.return_id::text, '-', '')) end`
const columnsOf = (sql: AnySql): Fragment =>
  sql`s.scope, s.value, s.group_id as "group", s.reason, s.since, ${causeOf(sql)} as cause`

export async function selectHolding(
  sql: AnySql,
  recipient: { accountId: number; key: string; domain: string; group: number | undefined },
): Promise<MatchingSuppression[]> {
  const { accountId, key, domain, group } = recipient
  const lookedUp = {
    account: sql`${accountId}::int`,
    key: sql`${key}::text`,
    domain: sql`${domain}::text`,
    group: sql`${group ?? null}::int`,
  }
  return sql<MatchingSuppression[]>`
    ${matchingSuppression(sql, lookedUp, sql`${columnsOf(sql)}, s.account_id = ${EVERY_ACCOUNT} as global, ${isUnsubscribed(sql)} as unsubscribed`)}`
}

/** Returns the entries that deliveries of a message caused, found by its recipients. */
export async function selectCausedBy(sql: AnySql, accountId: number, messageId: string): Promise<Suppression[]> {
  return sql<Suppression[]>`
    select ${columnsOf(sql)}
      from (select distinct recipient_key from deliveries where message_id = ${messageId}::uuid) d
      join suppressions s on s.account_id = ${accountId} and s.value = d.recipient_key
     where s.message_id = ${messageId}::uuid and ${isActive(sql)}
     order by s.recipient_no, s.group_id`
}

/** Whether the account exists; the operator's list always does. */
export async function accountExists(sql: AnySql, accountId: number): Promise<boolean> {
  if (accountId === EVERY_ACCOUNT) return true
  const rows = await sql`select 1 from accounts where id = ${accountId} and state <> 'deleted'`
  return rows.length > 0
}

export interface Entries extends Values {
  readonly accountId: number
  readonly group: number
  readonly reason: SuppressionReason
}

/** Adds entries; returns how many were new. Existing ones change as {@link addedAgain} says. */
export async function insertEntries(sql: AnySql, entries: Entries): Promise<number> {
  const { accountId, group, reason } = entries
  // Sorted, so that concurrent calls cannot deadlock.
  const values = [...entries.emails, ...entries.domains].sort()
  await sql`
    delete from suppressions s
     where s.account_id = ${accountId} and s.value = any(${values}::text[]) and s.group_id = ${group} and not ${isActive(sql)}`
  const rows = await sql<{ fresh: boolean }[]>`
    insert into suppressions as s (account_id, scope, value, group_id, reason)
    select ${accountId}::int, ${scopeOf(sql, sql`value`, sql`${group}::int`)}, value, ${group}::int, ${reason}
      from unnest(${values}::text[]) as given(value)
    ${addedAgain(sql)}
    returning s.xmax = 0 as fresh`
  return rows.filter(({ fresh }) => fresh).length
}

export function scopeOf(sql: AnySql, value: Fragment, group: Fragment): Fragment {
  return sql`case when ${group} > 0 then 'group' when strpos(${value}, '@') > 0 then 'address' else 'domain' end`
}

/**
 * Deletes entries, only those with these reasons if given; returns how many of them had not expired. Of a complaint of a recipient who unsubscribed before
 * or after it, the unsubscribe is left if only complaints are removed, and the complaint if only unsubscribes are.
 */
export async function deleteEntries(
  sql: AnySql,
  { accountId, group, emails, domains }: Omit<Entries, 'reason'>,
  reasons?: readonly SuppressionReason[],
): Promise<number> {
  const all = sql`
    s.account_id = ${accountId} and s.group_id = ${group} and s.value = any(${[...emails, ...domains]}::text[])`
  const named = reasons ? sql`${all} and s.reason = any(${[...reasons]}::text[])` : all
  const unsubscribed = reasons?.includes('unsubscribe') === false ? isUnsubscribed(sql) : sql`false`
  const rows = await sql<{ held: boolean }[]>`
    with restored as (
      update suppressions s
         set reason = 'unsubscribe', since = unsubscribed_since, unsubscribed_since = null, rule = null, class = null, message_id = null,
             recipient_no = null, return_id = null
       where ${named} and ${unsubscribed}
      returning true as held
    ), complaints as (
      update suppressions s set unsubscribed_since = null, manual_since = null
       where ${leavesComplaints(reasons) ? sql`${all} and ${isUnsubscribed(sql)}` : sql`false`}
      returning true as held
    ), deleted as (
      delete from suppressions s where ${named} and not (${unsubscribed}) returning ${isActive(sql)} as held
    )
    select held from restored union all select held from complaints union all select held from deleted`
  return rows.filter(({ held }) => held).length
}

type Listed = Omit<SuppressionFilter, 'limit' | 'offset'>

function fits(sql: AnySql, accountId: number, { emails = [], domains = [], group, reason }: Listed): Fragment {
  const values = [...emails, ...domains]
  // A separate statement per combination of filters: one plan for all of them would read the whole list every time.
  return sql`
    s.account_id = ${accountId} and ${isActive(sql)}
    ${values.length > 0 ? sql`and s.value = any(${values}::text[])` : sql``}
    ${reason === undefined ? sql`` : sql`and s.reason = ${reason}`}
    ${group === undefined ? sql`` : sql`and s.group_id = ${group} and s.group_id > 0`}`
}

export async function selectPage(sql: AnySql, accountId: number, filter: SuppressionFilter): Promise<Suppression[]> {
  return sql<Suppression[]>`
    select ${columnsOf(sql)} from suppressions s where ${fits(sql, accountId, filter)}
     order by s.value, s.group_id limit ${filter.limit} offset ${filter.offset}`
}

export async function countUpTo(sql: AnySql, accountId: number, filter: Listed): Promise<number> {
  return onlyRow(
    await sql<{ count: number }[]>`
      select count(*)::int as count from (
        select 1 from suppressions s where ${fits(sql, accountId, filter)} limit ${COUNTED}) found`,
  ).count
}

/** Empty from offset {@link COUNTED} on. */
export async function selectOfGroups(
  sql: AnySql,
  accountId: number,
  { group, limit, offset }: { group?: number; limit: number; offset: number },
): Promise<{ email: string; group: number; since: Date }[]> {
  if (offset >= COUNTED) return []
  return sql<{ email: string; group: number; since: Date }[]>`
    select s.value as email, s.group_id as "group", s.since from suppressions s
     where s.account_id = ${accountId} and s.group_id > 0 and ${isActive(sql)}
       ${group === undefined ? sql`` : sql`and s.group_id = ${group}`}
     order by s.group_id, s.value limit ${limit} offset ${offset}`
}

export async function countOfGroups(sql: AnySql, accountId: number, group?: number): Promise<number> {
  return onlyRow(
    await sql<{ count: number }[]>`
      select count(*)::int as count from (
        select from suppressions s
         where s.account_id = ${accountId} and s.group_id > 0 and ${isActive(sql)}
           ${group === undefined ? sql`` : sql`and s.group_id = ${group}`} limit ${COUNTED}) found`,
  ).count
}

/** Returns the part of the list after this entry, in its order. */
export async function selectAfter(
  sql: AnySql,
  accountId: number,
  after: Pick<Suppression, 'value' | 'group'>,
  limit: number,
): Promise<Suppression[]> {
  return sql<Suppression[]>`
    select ${columnsOf(sql)} from suppressions s
     where s.account_id = ${accountId} and (s.value, s.group_id) > (${after.value}, ${after.group}::int) and ${isActive(sql)}
     order by s.value, s.group_id limit ${limit}`
}

/** Deletes a batch of expired automatic entries; returns how many. Any number of processes may do this concurrently. */
export async function deleteEnded(sql: AnySql, limit: number): Promise<number> {
  const rows = await sql`
    delete from suppressions s using (
      select account_id, value, group_id from suppressions where held_until <= service_now()
       order by held_until limit ${limit} for update skip locked) ended
     where s.account_id = ended.account_id and s.value = ended.value and s.group_id = ended.group_id`
  return rows.count
}

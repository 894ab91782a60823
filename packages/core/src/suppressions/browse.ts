import { type AnySql, onlyRow } from '../platform/database/database.ts'
import type { Fragment } from './bypass.ts'
import { COUNTED, leavesComplaints, type SuppressionReason } from './suppression.ts'

export interface BrowseFilter {
  /** Entries with any of these reasons. A complaint of a recipient who is unsubscribed, too, is listed as either. */
  readonly reasons: readonly SuppressionReason[]
  /** Entries of this group; 0 means entries that apply to all mail. */
  readonly group: number
  /** Added between these times, inclusive. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  /** Addresses with this prefix, or only these addresses. Lower case. */
  readonly prefix?: string | undefined
  readonly emails?: readonly string[] | undefined
  readonly limit: number
  readonly offset: number
}

/** A suppressed address, with the reply of the server that last rejected it permanently. */
export interface BrowsedSuppression {
  readonly email: string
  readonly reason: SuppressionReason
  readonly since: Date
  readonly code: number | null
  readonly reply: string | null
  /** Enhanced status code (RFC 3463). */
  readonly status: string | null
  /** Without a reply: why, in the words of the service that it was imported from. */
  readonly told: string | null
}

/** Returns a page of an account's suppressed addresses, sorted by address. Empty from offset {@link COUNTED} on. */
export async function browse(sql: AnySql, accountId: number, filter: BrowseFilter): Promise<BrowsedSuppression[]> {
  const { limit, offset } = filter
  if (offset >= COUNTED) return []
  return sql<BrowsedSuppression[]>`
    with page as (
      select s.value, s.reason, s.since from ${entries(sql, accountId, filter)}
       order by s.value collate "C" limit ${limit} offset ${offset}
    )
    select p.value as email, p.reason, p.since, last.code, last.reply,
           coalesce(last.status, case when last.reply is null then imported.told_status end) as status,
           case when last.reply is null then imported.told end as told
      from page p
      left join lateral (
        select s.told, s.told_status from suppressions s
         where s.account_id = ${accountId} and s.value = p.value and s.group_id = ${filter.group} and p.reason = 'hardbounce' limit 1) imported on true
      left join lateral (
        select a.code, a.reply, a.enhanced as status
          from finished_deliveries f
          join attempts a on a.message_id = f.message_id and a.recipient_no = f.recipient_no and a.attempt = f.attempt
         where hashtextextended(f.recipient_key, f.account_id) = hashtextextended(p.value, ${accountId}::int)
           and f.recipient_key = p.value and f.account_id = ${accountId} and f.state = 'bounced' and p.reason = 'hardbounce'
         order by f.message_id desc limit 1) last on true
     order by p.value collate "C"`
}

/** Counts the entries that match the filter, up to {@link COUNTED} per reason. */
export async function countBrowsed(sql: AnySql, accountId: number, filter: BrowseFilter): Promise<number> {
  const all = { ...filter, limit: COUNTED, offset: 0 }
  return onlyRow(await sql<{ count: number }[]>`select count(*)::int as count from ${entries(sql, accountId, all)}`)
    .count
}

/**
 * Makes one probe of the index `suppressions_browse` per reason, and one of `suppressions_unsubscribed`, in their order and only as far as the page needs:
 * written differently, the one plan for all accounts reads the whole list of a large account. The indexes contain all
 * columns used here. The times are compared within `coalesce`, which the planner assumes to match every second row. For
 * a range comparison with unknown bounds it assumes one row in 200, few enough to read and sort them all.
 */
function entries(sql: AnySql, accountId: number, filter: BrowseFilter): Fragment {
  const { reasons, group, from, to, prefix, emails, limit, offset } = filter
  const matches = (since: Fragment): Fragment => sql`
    account_id = ${accountId} and group_id = ${group} and strpos(value, '@') > 0 and (held_until is null or held_until > service_now())
    ${from ? sql`and coalesce(${since} >= ${from}, false)` : sql``}
    ${to ? sql`and coalesce(${since} < ${to}::timestamptz + interval '1 second', false)` : sql``}
    ${prefix === undefined ? sql`` : sql`and starts_with(value, ${prefix})`}`
  const named = [...reasons]
  const withReason = sql`select value, reason, since from suppressions where ${matches(sql`since`)}`
  const withComplaint = sql`
    select value, 'unsubscribe' as reason, unsubscribed_since as since from suppressions
     where ${matches(sql`unsubscribed_since`)} and unsubscribed_since is not null ${leavesComplaints(reasons) ? sql`` : sql`and false`}`
  if (emails) {
    const isNamed = sql`value = any(${[...emails]}::text[])`
    return sql`(
      ${withReason} and reason = any(${named}::text[]) and ${isNamed} union all ${withComplaint} and ${isNamed}) s`
  }
  const begins = prefix
    ? sql`and value collate "C" >= ${prefix} and value collate "C" <= ${prefix} || U&'\\+10FFFF'`
    : sql``
  const inOrder = sql`order by value collate "C" limit ${limit + offset}`
  return sql`(
    select found.* from unnest(${named}::text[]) requested(reason)
     cross join lateral (${withReason} and reason = requested.reason ${begins} ${inOrder}) found
     union all (${withComplaint} ${begins} ${inOrder})) s`
}

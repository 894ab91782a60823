import { type AnySql, onlyRow } from '../platform/database/database.ts'
import type { Fragment } from './bypass.ts'
import { COUNTED, type SuppressionReason } from './suppression.ts'

export interface BrowseFilter {
  /** Entries for any of these reasons. */
  readonly reasons: readonly SuppressionReason[]
  /** Of this group; 0: of all mail. */
  readonly group: number
  /** Added in between, both included. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  /** Addresses that begin so, or only these. Lower case. */
  readonly prefix?: string | undefined
  readonly emails?: readonly string[] | undefined
  readonly limit: number
  readonly offset: number
}

/** A suppressed address with what the last server said that refused it for good. */
export interface BrowsedSuppression {
  readonly email: string
  readonly reason: SuppressionReason
  readonly since: Date
  readonly code: number | null
  readonly reply: string | null
  /** RFC 3463. */
  readonly status: string | null
}

/** A page of an account's suppressed addresses, by address; `offset` ends at {@link COUNTED}. */
export async function browse(sql: AnySql, accountId: number, filter: BrowseFilter): Promise<BrowsedSuppression[]> {
  const { limit, offset } = filter
  if (offset >= COUNTED) return []
  return sql<BrowsedSuppression[]>`
    with page as (
      select s.value, s.reason, s.since from ${entries(sql, accountId, filter)}
       order by s.value collate "C" limit ${limit} offset ${offset}
    )
    select p.value as email, p.reason, p.since, last.code, last.reply, last.status
      from page p
      left join lateral (
        select a.code, a.reply, a.enhanced as status
          from finished_deliveries f
          join attempts a on a.message_id = f.message_id and a.recipient_no = f.recipient_no and a.attempt = f.attempt
         where hashtextextended(f.recipient_key, f.account_id) = hashtextextended(p.value, ${accountId}::int)
           and f.recipient_key = p.value and f.account_id = ${accountId} and f.state = 'bounced' and p.reason = 'hardbounce'
         order by f.message_id desc limit 1) last on true
     order by p.value collate "C"`
}

/** How many entries fit the filter, counted up to {@link COUNTED} for each reason. */
export async function countBrowsed(sql: AnySql, accountId: number, filter: BrowseFilter): Promise<number> {
  const all = { ...filter, limit: COUNTED, offset: 0 }
  return onlyRow(await sql<{ count: number }[]>`select count(*)::int as count from ${entries(sql, accountId, all)}`)
    .count
}

/**
 * Each reason is a probe of `suppressions_browse`, in its order and no further than the page goes: told in any other way, the one plan
 * for all accounts reads the whole list of a large one. What it asks about is in that index. The times are judged within `coalesce`, which
 * the planner takes for every second row: a window of unknown ends it takes for a two hundredth, few enough to be read and sorted whole.
 */
function entries(sql: AnySql, accountId: number, filter: BrowseFilter): Fragment {
  const { reasons, group, from, to, prefix, emails, limit, offset } = filter
  const fits = sql`
    account_id = ${accountId} and group_id = ${group} and strpos(value, '@') > 0 and (held_until is null or held_until > service_now())
    ${from ? sql`and coalesce(since >= ${from}, false)` : sql``}
    ${to ? sql`and coalesce(since < ${to}::timestamptz + interval '1 second', false)` : sql``}
    ${prefix === undefined ? sql`` : sql`and starts_with(value, ${prefix})`}`
  const named = [...reasons]
  if (emails) {
    return sql`(
      select * from suppressions where ${fits} and reason = any(${named}::text[]) and value = any(${[...emails]}::text[])) s`
  }
  const since = prefix
    ? sql`and value collate "C" >= ${prefix} and value collate "C" <= ${prefix} || U&'\\+10FFFF'`
    : sql``
  return sql`
    unnest(${named}::text[]) asked(reason)
     cross join lateral (
       select value, reason, since from suppressions
        where ${fits} and reason = asked.reason ${since} order by value collate "C" limit ${limit + offset}) s`
}

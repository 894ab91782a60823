import type { AnySql } from '../database.ts'
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
  readonly reply: string | null
  /** RFC 3463. */
  readonly status: string | null
}

/** A page of an account's suppressed addresses, by address; `offset` ends at {@link COUNTED}. */
export async function browse(sql: AnySql, accountId: number, filter: BrowseFilter): Promise<BrowsedSuppression[]> {
  const { reasons, group, from, to, prefix, emails, limit, offset } = filter
  if (offset >= COUNTED) return []
  return sql<BrowsedSuppression[]>`
    with page as (
      select s.value, s.reason, s.since from suppressions s
       where s.account_id = ${accountId} and s.reason = any(${[...reasons]}::text[]) and s.group_id = ${group}
         and s.scope <> 'domain' and (s.held_until is null or s.held_until > service_now())
         ${from ? sql`and s.since >= ${from}` : sql``}
         ${to ? sql`and s.since < ${to}::timestamptz + interval '1 second'` : sql``}
         ${prefix === undefined ? sql`` : sql`and starts_with(s.value, ${prefix})`}
         ${emails ? sql`and s.value = any(${[...emails]}::text[])` : sql``}
       order by s.value limit ${limit} offset ${offset}
    )
    select p.value as email, p.reason, p.since, last.reply, last.status
      from page p
      left join lateral (
        select a.reply, a.enhanced as status
          from finished_deliveries f
          join attempts a on a.message_id = f.message_id and a.recipient_no = f.recipient_no and a.attempt = f.attempt
         where hashtextextended(f.recipient_key, f.account_id) = hashtextextended(p.value, ${accountId}::int)
           and f.recipient_key = p.value and f.account_id = ${accountId} and f.state = 'bounced' and p.reason = 'hardbounce'
         order by f.message_id desc limit 1) last on true
     order by p.value`
}

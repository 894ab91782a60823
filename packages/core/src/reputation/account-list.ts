import type { Account } from '../accounts/account.ts'
import { HOLD_LEVELS, type HoldLevel } from '../delivery/queue/account-holds.ts'
import type { AnySql, Sql } from '../platform/database/database.ts'
import type { AccountStanding } from './standing.ts'

/** An account with what became of its mail within 24 hours. */
export interface AccountFigures extends Account {
  readonly day: AccountStanding['day']
  /** The strictest of its holds; null if there is none. */
  readonly level: HoldLevel | null
}

export const ACCOUNT_FILTERS = [...HOLD_LEVELS, 'suspended', 'closed'] as const
export type AccountFilter = (typeof ACCOUNT_FILTERS)[number]

export interface AccountQuery {
  /** Only this account. */
  readonly id?: number
  /** A part of the name, or the id. */
  readonly search?: string
  readonly filter?: AccountFilter
  readonly limit: number
  readonly offset: number
}

/**
 * Returns the accounts of the installation that are not deleted, those with most mail of the last 24 hours first, and how many there are. It reads
 * the counts of these hours of all accounts: 24 rows for each that sends.
 */
export async function listFigures(
  sql: Sql,
  { id, search = '', filter, limit, offset }: AccountQuery,
): Promise<{ readonly accounts: readonly AccountFigures[]; readonly total: number }> {
  type Row = Account & AccountStanding['day'] & Pick<AccountFigures, 'level'> & { readonly total: number }
  const rows = await sql<Row[]>`
    with day as (
      select account_id, sum(accepted)::int as accepted, sum(delivered)::int as delivered, sum(hard)::int as hard, sum(soft)::int as soft,
             sum(complained)::int as complained
        from account_counts where hour > service_now() - interval '24 hours' ${id === undefined ? sql`` : sql`and account_id = ${id}`} group by account_id
    ), hold as (
      select account_id, max(array_position(${[...HOLD_LEVELS]}::text[], level)) as rank
        from account_holds where until is null or until > service_now() group by account_id
    )
    select a.id, a.name, a.state, a.parent_id as "parentId", a.expires_at as "expiresAt", a.closed_at as "closedAt", a.created_at as "createdAt",
           coalesce(d.accepted, 0) as accepted, coalesce(d.delivered, 0) as delivered, coalesce(d.hard, 0) as hard, coalesce(d.soft, 0) as soft,
           coalesce(d.complained, 0) as complained, (${[...HOLD_LEVELS]}::text[])[h.rank] as level, (count(*) over ())::int as total
      from accounts a left join day d on d.account_id = a.id left join hold h on h.account_id = a.id
     where a.deleted_at is null ${id === undefined ? sql`` : sql`and a.id = ${id}`} ${matching(sql, search)} ${filtered(sql, filter)}
     order by coalesce(d.accepted, 0) desc, lower(a.name), a.id limit ${limit} offset ${offset}`
  const accounts = rows.map(({ accepted, delivered, hard, soft, complained, total: _, ...account }) => ({
    ...account,
    day: { accepted, delivered, hard, soft, complained },
  }))
  return { accounts, total: rows[0]?.total ?? 0 }
}

function matching(sql: AnySql, search: string): ReturnType<AnySql> {
  if (search === '') return sql``
  return sql`and (position(lower(${search}::text) in lower(a.name)) > 0 or a.id::text = ${search}::text)`
}

function filtered(sql: AnySql, filter: AccountFilter | undefined): ReturnType<AnySql> {
  if (filter === undefined) return sql``
  if (filter === 'suspended') return sql`and a.state = 'suspended'`
  if (filter === 'closed') return sql`and a.closed_at is not null`
  return sql`and (${[...HOLD_LEVELS]}::text[])[h.rank] = ${filter}::text`
}

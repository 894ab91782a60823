import type { AnySql } from '../platform/database/database.ts'
import type { AccountOfUser } from './person.ts'

/** Accounts of one user. */
const MAX_ACCOUNTS = 200

export interface AccountsQuery {
  readonly userId: number
  /** The account that the user looks at as an operator; otherwise null. */
  readonly looksAt: number | null
}

/** The accounts of a user, and the names of those that are closed. */
export interface AccountsOfUser {
  readonly accounts: readonly AccountOfUser[]
  readonly closedAccounts: readonly string[]
}

/**
 * For each query, the accounts of the user by name, and the one that an operator looks at. A subaccount that its parent has disabled is left
 * out. Closed accounts are in a list of their own, except where an operator looks at one.
 */
export async function selectAccountsOf(sql: AnySql, queries: readonly AccountsQuery[]): Promise<AccountsOfUser[]> {
  const found = queries.map(() => ({ accounts: [] as AccountOfUser[], closedAccounts: [] as string[] }))
  if (queries.length === 0) return found
  const rows = await sql<(AccountOfUser & { at: number; closed: boolean })[]>`
    select asked.at::int as at, one.*
      from unnest(${queries.map(({ userId }) => userId)}::int[], ${queries.map(({ looksAt }) => looksAt)}::int[])
             with ordinality as asked(user_id, looks_at, at)
     cross join lateral (
       select a.id, a.name, m.role, m.role <> 'observer' and coalesce(a.closed_at, p.closed_at) is not null as closed,
              case when p.state <> 'active' then p.state else a.state end as state
         from (
           select account_id, role from memberships where user_id = asked.user_id
           union all
           select asked.looks_at, 'observer' where asked.looks_at is not null
              and not exists (select from memberships where user_id = asked.user_id and account_id = asked.looks_at)
         ) m join accounts a on a.id = m.account_id left join accounts p on p.id = a.parent_id
        where a.deleted_at is null and a.state <> 'deleted' and p.state is distinct from 'deleted'
          and not (a.parent_id is not null and a.state = 'suspended')
        order by lower(a.name), a.id limit ${MAX_ACCOUNTS}) one
     order by asked.at, lower(one.name), one.id`
  for (const { at, closed, ...account } of rows) {
    if (closed) found[at - 1]?.closedAccounts.push(account.name)
    else found[at - 1]?.accounts.push(account)
  }
  return found
}

import type { AnySql } from '../platform/database/database.ts'
import type { AccountOfUser } from './person.ts'

/** Accounts of one user. */
const MAX_ACCOUNTS = 200

/**
 * The accounts of a user by name, and the one that an operator looks at. A subaccount that its parent has disabled is left out.
 */
export async function selectAccountsOf(sql: AnySql, userId: number, looksAt: number | null): Promise<AccountOfUser[]> {
  return sql<AccountOfUser[]>`
    select a.id, a.name, m.role, case when p.state <> 'active' then p.state else a.state end as state
      from (
        select account_id, role from memberships where user_id = ${userId}
        union all
        select ${looksAt}::int, 'observer' where ${looksAt}::int is not null
           and not exists (select from memberships where user_id = ${userId} and account_id = ${looksAt}::int)
      ) m join accounts a on a.id = m.account_id left join accounts p on p.id = a.parent_id
     where a.deleted_at is null and a.state <> 'deleted' and p.state is distinct from 'deleted'
       and not (a.parent_id is not null and a.state = 'suspended')
     order by lower(a.name), a.id limit ${MAX_ACCOUNTS}`
}

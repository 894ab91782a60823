import { isUniqueViolation, type Sql } from '../database.ts'
import { invalidParameter } from '../errors.ts'
import type { Account } from './account.ts'
import { insertAccount, selectAccounts, updateAccountExpiry, updateAccountState } from './store.ts'

export type { Account } from './account.ts'

export interface Accounts {
  /** Throws parameterInvalid when the name is blank, has control characters, or is taken. */
  create(name: string): Promise<Account>
  list(): Promise<Account[]>
  /** Takes effect in every process within 5 s. Throws parameterInvalid for an unknown account. */
  suspend(id: number): Promise<Account>
  resume(id: number): Promise<Account>
  /** `at` null: now. Takes effect in every process within 5 s. */
  expire(id: number, at: Date | null): Promise<Account>
}

export function accountsOf(sql: Sql): Accounts {
  return {
    async create(name) {
      const clean = name.trim()
      if (clean === '' || clean.length > 100) throw invalidParameter('name', 'it must have 1 to 100 characters')
      if (/\p{C}/u.test(clean)) throw invalidParameter('name', 'it must not contain control characters')
      try {
        return await insertAccount(sql, clean)
      } catch (error) {
        if (isUniqueViolation(error, 'accounts_name')) throw invalidParameter('name', 'an account with it exists')
        throw error
      }
    },
    list: () => selectAccounts(sql),
    suspend: async (id) => known(await updateAccountState(sql, id, 'suspended')),
    resume: async (id) => known(await updateAccountState(sql, id, 'active')),
    expire: async (id, at) => known(await updateAccountExpiry(sql, id, at)),
  }
}

function known(account: Account | undefined): Account {
  if (!account) throw invalidParameter('account', 'there is no such account')
  return account
}

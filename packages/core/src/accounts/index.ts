import { isUniqueViolation, type Sql, type SqlTransaction } from '../platform/database/database.ts'
import { invalidParameter } from '../platform/errors.ts'
import type { Account } from './account.ts'
import { noteChange, OPERATOR } from './audit/index.ts'
import { type MostDays, type Settings, settingsOf } from './settings.ts'
import {
  type AccountLimits,
  insertAccount,
  selectAccountLimits,
  selectAccounts,
  updateAccountExpiry,
  updateAccountLimits,
  updateAccountState,
} from './store.ts'

export type { Account } from './account.ts'
export type { AccountSettings } from './account-settings.ts'
export type { MostDays } from './settings.ts'
export type { AccountLimits } from './store.ts'

export interface Accounts {
  /** Throws parameterInvalid when the name is blank, has control characters, or is taken. */
  create(name: string): Promise<Account>
  list(): Promise<Account[]>
  /** Takes effect in every process within 5 s. Throws parameterInvalid for an unknown account. */
  suspend(id: number): Promise<Account>
  resume(id: number): Promise<Account>
  /** `at` null: now. Takes effect in every process within 5 s. */
  expire(id: number, at: Date | null): Promise<Account>
  /**
   * Sets the limits named, for the operator, and answers all of them. Takes effect in every process within 5 s.
   *
   * Throws parameterInvalid for an unknown account and for what is no limit.
   */
  limit(id: number, change: Partial<AccountLimits>): Promise<AccountLimits>
  /** See settings.ts. */
  readonly settings: Settings
}

export function accountsOf(sql: Sql, most: MostDays): Accounts {
  /** One transaction: the change, and its entry in the account's audit log. Accounts themselves are changed by the operator. */
  function noted(
    action: string,
    act: (transaction: SqlTransaction) => Promise<Account | undefined>,
    told: (account: Account) => Record<string, unknown>,
  ): Promise<Account> {
    return sql.begin(async (transaction) => {
      const account = known(await act(transaction))
      const { id } = account
      await noteChange(transaction, {
        ...{ accountId: id, by: OPERATOR, action, object: `account ${id}`, after: told(account) },
      })
      return account
    }) as Promise<Account>
  }

  return {
    async create(name) {
      const clean = name.trim()
      if (clean === '' || clean.length > 100) throw invalidParameter('name', 'must have 1 to 100 characters')
      if (/\p{C}/u.test(clean)) throw invalidParameter('name', 'must not contain control characters')
      try {
        return await noted('account.create', (transaction) => insertAccount(transaction, clean), nameOf)
      } catch (error) {
        if (isUniqueViolation(error, 'accounts_name'))
          throw invalidParameter('name', 'is already used by another account')
        throw error
      }
    },
    list: () => selectAccounts(sql),
    suspend: (id) =>
      noted('account.suspend', (transaction) => updateAccountState(transaction, id, 'suspended'), stateOf),
    resume: (id) => noted('account.resume', (transaction) => updateAccountState(transaction, id, 'active'), stateOf),
    expire: (id, at) => noted('account.expire', (transaction) => updateAccountExpiry(transaction, id, at), expiryOf),
    async limit(id, change) {
      for (const [name, value] of Object.entries(change)) {
        const fits = value === null || (Number.isInteger(value) && value >= 1 && value <= MOST_A_MINUTE)
        if (!fits) throw invalidParameter(name, `must be a whole number from 1 to ${MOST_A_MINUTE}`)
      }
      const act = sql.begin(async (transaction) => {
        const before = known(await selectAccountLimits(transaction, id))
        const after = { ...before, ...change }
        if (Object.keys(change).length === 0) return before
        await updateAccountLimits(transaction, id, after)
        const values = { before: { ...before }, after }
        await noteChange(transaction, {
          accountId: id,
          by: OPERATOR,
          action: 'account.limit',
          object: `account ${id}`,
          ...values,
        })
        return after
      })
      return act as Promise<AccountLimits>
    },
    settings: settingsOf(sql, most),
  }
}

const MOST_A_MINUTE = 1_000_000_000

function known<T>(account: T | undefined): T {
  if (!account) throw invalidParameter('account', 'does not exist')
  return account
}

const nameOf = ({ name }: Account) => ({ name })
const stateOf = ({ state }: Account) => ({ state })
const expiryOf = ({ expiresAt }: Account) => ({ expiresAt: expiresAt?.toISOString() })

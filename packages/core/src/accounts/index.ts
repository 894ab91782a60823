import { isUniqueViolation, type Sql, type SqlTransaction } from '../platform/database/database.ts'
import { invalidParameter } from '../platform/errors.ts'
import type { Account } from './account.ts'
import { type Actor, noteChange, OPERATOR } from './audit/index.ts'
import { noteOperatorChange } from './audit/note-operator-change.ts'
import { importAlone, type RunningImport } from './import-lock.ts'
import { createSettings, type MostDays, type Settings } from './settings.ts'
import {
  type AccountLimits,
  insertAccount,
  lockAccount,
  selectAccount,
  selectAccountLimits,
  selectAccounts,
  selectEmail,
  selectNames,
  updateAccountExpiry,
  updateAccountLimits,
  updateAccountState,
  updateName,
} from './store.ts'

export type { Account } from './account.ts'
export type { AccountSettings } from './account-settings.ts'
export type { RunningImport } from './import-lock.ts'
export type { MostDays } from './settings.ts'
export type { AccountLimits } from './store.ts'

export interface Accounts {
  /**
   * Throws parameterInvalid if the name is blank or longer than 100 characters, has control characters, or is in use.
   */
  create(name: string, by?: Actor): Promise<Account>
  /**
   * Subaccounts, whose names begin with that of the account, are renamed with it. Throws parameterInvalid like `create`, and for an unknown account and
   * a subaccount.
   */
  rename(id: number, name: string, by?: Actor): Promise<Account>
  /** The same by a member of the account, whom its log names. */
  renameOwn(id: number, name: string, by: Actor): Promise<Account>
  list(): Promise<Account[]>
  /** Also a deleted one; undefined if there is none with this number. */
  find(id: number): Promise<Account | undefined>
  /** Returns the address of a subaccount, or of the account's first owner; empty if there is none. */
  emailOf(id: number): Promise<string>
  /** The names of these accounts, by id. */
  names(ids: readonly number[]): Promise<Map<number, string>>
  /** Takes effect in every process within 5 s. Throws parameterInvalid for an unknown account. */
  suspend(id: number, by?: Actor): Promise<Account>
  resume(id: number, by?: Actor): Promise<Account>
  /** `at` null: expires now. Takes effect in every process within 5 s. */
  expire(id: number, at: Date | null): Promise<Account>
  /**
   * Sets the given limits for the operator and returns all limits. Takes effect in every process within 5 s.
   *
   * Throws parameterInvalid for an unknown account or an invalid limit.
   */
  limit(id: number, change: Partial<AccountLimits>): Promise<AccountLimits>
  /** See import-lock.ts. */
  importAlone(id: number, fn: () => Promise<void>): Promise<RunningImport | undefined>
  readonly settings: Settings
}

export function createAccounts(sql: Sql, most: MostDays): Accounts {
  /** Makes a change by the operator and its audit log entries in one transaction. */
  function audited(
    action: string,
    fn: (transaction: SqlTransaction) => Promise<Account | undefined>,
    { values, by = OPERATOR }: { readonly values: (account: Account) => Record<string, unknown>; readonly by?: Actor },
  ): Promise<Account> {
    return sql.begin(async (transaction) => {
      const account = requireKnown(await fn(transaction))
      const { id } = account
      await noteOperatorChange(transaction, {
        accountId: id,
        by,
        action,
        object: `account ${id}`,
        after: values(account),
      })
      return account
    }) as Promise<Account>
  }

  function renamed(
    id: number,
    name: string,
    { by, note }: { readonly by: Actor; readonly note: typeof noteChange },
  ): Promise<Account> {
    const clean = validName(name)
    const done = sql.begin(async (transaction) => {
      const before = requireKnown(await lockAccount(transaction, id))
      if (before.parentId !== null)
        throw invalidParameter('account', 'is a subaccount, which keeps the name that its parent has given it')
      const account = requireKnown(await updateName(transaction, id, clean))
      const change = { accountId: id, by, action: 'account.rename', object: `account ${id}` }
      await note(transaction, { ...change, before: { name: before.name }, after: { name: clean } })
      return account
    })
    return uniquelyNamed(done as Promise<Account>)
  }

  return {
    async create(name, by = OPERATOR) {
      const clean = validName(name)
      return uniquelyNamed(
        audited('account.create', (transaction) => insertAccount(transaction, clean), { values: nameOf, by }),
      )
    },
    rename: (id, name, by = OPERATOR) => renamed(id, name, { by, note: noteOperatorChange }),
    renameOwn: (id, name, by) => renamed(id, name, { by, note: noteChange }),
    list: () => selectAccounts(sql),
    find: (id) => selectAccount(sql, id),
    emailOf: (id) => selectEmail(sql, id),
    importAlone: (id, fn) => importAlone(sql, id, fn),
    names: (ids) => selectNames(sql, ids),
    suspend: (id, by = OPERATOR) =>
      audited('account.suspend', (sql) => updateAccountState(sql, id, 'suspended'), { values: stateOf, by }),
    resume: (id, by = OPERATOR) =>
      audited('account.resume', (sql) => updateAccountState(sql, id, 'active'), { values: stateOf, by }),
    expire: (id, at) => audited('account.expire', (sql) => updateAccountExpiry(sql, id, at), { values: expiryOf }),
    async limit(id, change) {
      for (const [name, value] of Object.entries(change)) {
        const isValid = value === null || (Number.isInteger(value) && value >= 1 && value <= MAX_PER_MINUTE)
        if (!isValid) throw invalidParameter(name, `must be a whole number from 1 to ${MAX_PER_MINUTE}`)
      }
      const limits = sql.begin(async (transaction) => {
        const before = requireKnown(await selectAccountLimits(transaction, id))
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
      return limits as Promise<AccountLimits>
    },
    settings: createSettings(sql, most),
  }
}

/** Returns the name without surrounding spaces. Throws parameterInvalid. */
function validName(name: string): string {
  const clean = name.trim()
  if (clean === '' || clean.length > 100) throw invalidParameter('name', 'must have 1 to 100 characters')
  if (/\p{C}/u.test(clean)) throw invalidParameter('name', 'must not contain control characters')
  return clean
}

/** Throws parameterInvalid in place of the database's error about the name. */
function uniquelyNamed<T>(change: Promise<T>): Promise<T> {
  return change.catch((error: unknown) => {
    if (isUniqueViolation(error, 'accounts_name')) throw invalidParameter('name', 'is already used by another account')
    throw error
  })
}

const MAX_PER_MINUTE = 1_000_000_000

function requireKnown<T>(account: T | undefined): T {
  if (!account) throw invalidParameter('account', 'does not exist')
  return account
}

const nameOf = ({ name }: Account) => ({ name })
const stateOf = ({ state }: Account) => ({ state })
const expiryOf = ({ expiresAt }: Account) => ({ expiresAt: expiresAt?.toISOString() })

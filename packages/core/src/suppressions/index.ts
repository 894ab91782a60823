import { noteChange, OPERATOR } from '../accounts/audit/index.ts'
import { parseAddress } from '../mime/address.ts'
import type { AnySql, Sql, SqlTransaction } from '../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { type BrowsedSuppression, type BrowseFilter, browse, countBrowsed } from './browse.ts'
import type { Forgotten } from './forgotten.ts'
import { type ImportReport, importerOf, type SuppressionImport } from './import.ts'
import {
  accountExists,
  countOfGroups,
  countUpTo,
  deleteEnded,
  deleteEntries,
  insertEntries,
  selectAfter,
  selectHolding,
  selectOfGroups,
  selectPage,
} from './store.ts'
import {
  COUNTED,
  type HoldingSuppression,
  type NewSuppression,
  type Suppression,
  type SuppressionChange,
  type SuppressionFilter,
  type SuppressionPage,
} from './suppression.ts'
import { parseValues, type Values } from './values.ts'

export type { BrowsedSuppression, BrowseFilter } from './browse.ts'
export type { ImportProblem, ImportReport, ImportRow, SuppressionImport } from './import.ts'
export * from './suppression.ts'

export interface Suppressions {
  /** Adds one entry. Idempotent: the first reason stays. Throws what {@link Suppressions.addAll} throws. */
  add(suppression: NewSuppression): Promise<void>
  /**
   * Adds entries, all or none; answers how many were new. An automatic entry that is added by hand no longer ends.
   *
   * Throws suppressionEmailInvalid, suppressionDomainInvalid, tooLarge, parameterMissing (email), parameterInvalid (account,
   * domain).
   */
  addAll(change: SuppressionChange): Promise<number>
  /** Takes entries off this list, and no other's; answers how many were there. Throws what {@link Suppressions.addAll} throws. */
  removeAll(change: Omit<SuppressionChange, 'reason'>): Promise<number>
  /** A page of the list, by value. Throws suppressionEmailInvalid, suppressionDomainInvalid, tooLarge, parameterInvalid (offset). */
  list(accountId: number, filter: SuppressionFilter): Promise<SuppressionPage>
  /** See browse.ts. */
  browse(accountId: number, filter: BrowseFilter): Promise<BrowsedSuppression[]>
  /** How many entries a filter finds, whatever its page. */
  countBrowsed(accountId: number, filter: BrowseFilter): Promise<number>
  /** How many left a group, or any group, counted up to {@link COUNTED}. */
  countOfGroups(accountId: number, group?: number): Promise<number>
  /** Who left a group, or any group, by address. */
  ofGroups(
    accountId: number,
    page: { readonly group?: number; readonly limit: number; readonly offset: number },
  ): Promise<{ readonly email: string; readonly group: number; readonly since: Date }[]>
  /**
   * What would hold a message to this address, of this unsubscribe group; the first says why it would be dropped. Nothing: it
   * would be sent. Throws suppressionEmailInvalid.
   */
  holding(accountId: number, email: string, group?: number): Promise<HoldingSuppression[]>
  /** The whole list, some at a time, in its order. What is added or removed meanwhile may be there or not. */
  pages(accountId: number): AsyncIterable<readonly Suppression[]>
  /** See import.ts. */
  import(list: SuppressionImport): Promise<ImportReport>
  /** Deletes automatic entries past their end, some at a time. Answers how many. */
  forgetEnded(): Promise<number>
}

export interface SuppressionsDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly forgotten: Forgotten
}

const PAGE = 2000
const FORGOTTEN_AT_ONCE = 5000
/** Addresses of one call the audit log tells apart; the counts tell of all. */
const NOTED = 100

export function suppressionsOf({ sql, secrets, forgotten }: SuppressionsDependencies): Suppressions {
  const hashOf = (value: string): string =>
    secrets.mac('audit address', Buffer.from(value)).toString('hex').slice(0, 32)
  const noted = ({ emails, domains }: Values) => ({
    ...{ emails: emails.length, domains: domains.length },
    hashes: [...emails, ...domains].slice(0, NOTED).map(hashOf),
  })

  /** A change of the list with its entry in the audit log, if there is something to tell. */
  async function change(
    { accountId, group = 0, by = OPERATOR, ...named }: Omit<SuppressionChange, 'reason'>,
    what: 'added' | 'removed',
    act: (transaction: SqlTransaction, entries: Values & { accountId: number; group: number }) => Promise<number>,
  ): Promise<number> {
    const values = parseValues(named)
    if (group > 0 && values.domains.length > 0)
      throw invalidParameter('domain', 'cannot be combined with a group: groups contain only addresses')
    return sql.begin(async (transaction) => {
      await requireAccount(transaction, accountId)
      const count = await act(transaction, { ...values, accountId, group })
      if (count > 0) {
        const told = { [what]: count, ...noted(values), ...(group > 0 ? { group } : {}) }
        const action = what === 'added' ? 'suppression.add' : 'suppression.remove'
        await noteChange(transaction, {
          ...{ accountId, by, action, object: 'suppressions' },
          ...(what === 'added' ? { after: told } : { before: told }),
        })
      }
      return count
    })
  }

  const addAll = ({ reason = 'manual', ...named }: SuppressionChange): Promise<number> =>
    change(named, 'added', (transaction, entries) => insertEntries(transaction, { ...entries, reason }))

  return {
    async add({ accountId, scope, value, reason, by = OPERATOR }) {
      await addAll({ accountId, reason, by, ...(scope === 'address' ? { emails: [value] } : { domains: [value] }) })
    },
    addAll,
    removeAll: (named) =>
      change(named, 'removed', async (transaction, entries) => {
        // Of somebody who was forgotten, the list has a hash instead.
        const hashed = await forgotten.remove(transaction, entries.accountId, entries.emails, entries.group)
        return hashed + (await deleteEntries(transaction, entries))
      }),
    async list(accountId, { emails = [], domains = [], ...filter }) {
      if (filter.offset >= COUNTED)
        throw invalidParameter('offset', `must be less than ${COUNTED}; use an export to get all entries`)
      const values = emails.length + domains.length > 0 ? parseValues({ emails, domains }) : {}
      const [suppressions, total] = await Promise.all([
        selectPage(sql, accountId, { ...filter, ...values }),
        countUpTo(sql, accountId, { ...filter, ...values }),
      ])
      return { suppressions, total }
    },
    async holding(accountId, email, group) {
      const address = parseAddress(email)
      if (!address) throw new ServiceError('suppressionEmailInvalid')
      const { key, domain } = address
      const hashed = await forgotten.entries({ accountId, key, group: group ?? null })
      return [
        ...hashed.map((entry): HoldingSuppression => {
          return { ...entry, scope: entry.group > 0 ? 'group' : 'address', value: key, global: false }
        }),
        ...(await selectHolding(sql, { accountId, key, domain, group })),
      ]
    },
    browse: (accountId, filter) => browse(sql, accountId, filter),
    countBrowsed: (accountId, filter) => countBrowsed(sql, accountId, filter),
    countOfGroups: (accountId, group) => countOfGroups(sql, accountId, group),
    ofGroups: (accountId, page) => selectOfGroups(sql, accountId, page),
    pages: (accountId) => pagesOf(sql, accountId),
    import: importerOf(sql),
    forgetEnded: () => deleteEnded(sql, FORGOTTEN_AT_ONCE),
  }
}

async function* pagesOf(sql: Sql, accountId: number): AsyncGenerator<readonly Suppression[]> {
  let after: Pick<Suppression, 'value' | 'group'> = { value: '', group: 0 }
  for (;;) {
    const page = await selectAfter(sql, accountId, after, PAGE)
    if (page.length > 0) yield page
    const last = page.at(-1)
    if (!last || page.length < PAGE) return
    after = last
  }
}

/** Throws parameterInvalid (account). */
async function requireAccount(sql: AnySql, accountId: number): Promise<void> {
  if (!(await accountExists(sql, accountId))) throw invalidParameter('account', 'does not exist')
}

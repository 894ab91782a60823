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
  /**
   * Adds one entry. Idempotent: an existing entry keeps its reason. Throws the same errors as {@link
   * Suppressions.addAll}.
   */
  add(suppression: NewSuppression): Promise<void>
  /**
   * Adds all entries or none; returns how many were new. An automatic entry that is added manually no longer expires.
   *
   * Throws suppressionEmailInvalid, suppressionDomainInvalid, tooLarge, parameterMissing (email), parameterInvalid
   * (account, domain).
   */
  addAll(change: SuppressionChange): Promise<number>
  /**
   * Removes entries from this list only; returns how many existed. Throws the same errors as {@link
   * Suppressions.addAll}.
   */
  removeAll(change: Omit<SuppressionChange, 'reason'>): Promise<number>
  /**
   * Returns a page of the list, sorted by value. Throws suppressionEmailInvalid, suppressionDomainInvalid, tooLarge,
   * parameterInvalid (offset).
   */
  list(accountId: number, filter: SuppressionFilter): Promise<SuppressionPage>
  /** See browse.ts. */
  browse(accountId: number, filter: BrowseFilter): Promise<BrowsedSuppression[]>
  /** Counts the entries that match a filter, ignoring its page. */
  countBrowsed(accountId: number, filter: BrowseFilter): Promise<number>
  /** Counts the unsubscribes of a group, or of all groups, up to {@link COUNTED}. */
  countOfGroups(accountId: number, group?: number): Promise<number>
  /** Returns the unsubscribes of a group, or of all groups, sorted by group and address. */
  ofGroups(
    accountId: number,
    page: { readonly group?: number; readonly limit: number; readonly offset: number },
  ): Promise<{ readonly email: string; readonly group: number; readonly since: Date }[]>
  /**
   * Returns the entries that would suppress a message of this unsubscribe group to the address; the first gives the
   * reason for the drop. If empty, the message would be sent. Throws suppressionEmailInvalid.
   */
  holding(accountId: number, email: string, group?: number): Promise<HoldingSuppression[]>
  /** Yields the whole list in pages, in its order. Concurrent changes may or may not be included. */
  pages(accountId: number): AsyncIterable<readonly Suppression[]>
  /** See import.ts. */
  import(list: SuppressionImport): Promise<ImportReport>
  /** Deletes a batch of expired automatic entries. Returns how many. */
  forgetEnded(): Promise<number>
}

export interface SuppressionsDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly forgotten: Forgotten
}

const PAGE_SIZE = 2000
const DELETED_PER_BATCH = 5000
/** Maximum addresses of one call that the audit log records individually (as hashes); the counts include all. */
const MAX_HASHES = 100

export function suppressionsOf({ sql, secrets, forgotten }: SuppressionsDependencies): Suppressions {
  const hashOf = (value: string): string =>
    secrets.mac('audit address', Buffer.from(value)).toString('hex').slice(0, 32)
  const valuesOf = ({ emails, domains }: Values) => ({
    ...{ emails: emails.length, domains: domains.length },
    hashes: [...emails, ...domains].slice(0, MAX_HASHES).map(hashOf),
  })

  /** Changes the list and records the change in the audit log, if anything changed. */
  async function change(
    { accountId, group = 0, by = OPERATOR, ...named }: Omit<SuppressionChange, 'reason'>,
    what: 'added' | 'removed',
    fn: (transaction: SqlTransaction, entries: Values & { accountId: number; group: number }) => Promise<number>,
  ): Promise<number> {
    const values = parseValues(named)
    if (group > 0 && values.domains.length > 0)
      throw invalidParameter('domain', 'cannot be combined with a group: groups contain only addresses')
    return sql.begin(async (transaction) => {
      await requireAccount(transaction, accountId)
      const count = await fn(transaction, { ...values, accountId, group })
      if (count > 0) {
        const auditValues = { [what]: count, ...valuesOf(values), ...(group > 0 ? { group } : {}) }
        const action = what === 'added' ? 'suppression.add' : 'suppression.remove'
        await noteChange(transaction, {
          ...{ accountId, by, action, object: 'suppressions' },
          ...(what === 'added' ? { after: auditValues } : { before: auditValues }),
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
        // Erased recipients are stored as hashes.
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
    forgetEnded: () => deleteEnded(sql, DELETED_PER_BATCH),
  }
}

async function* pagesOf(sql: Sql, accountId: number): AsyncGenerator<readonly Suppression[]> {
  let after: Pick<Suppression, 'value' | 'group'> = { value: '', group: 0 }
  for (;;) {
    const page = await selectAfter(sql, accountId, after, PAGE_SIZE)
    if (page.length > 0) yield page
    const last = page.at(-1)
    if (!last || page.length < PAGE_SIZE) return
    after = last
  }
}

/** Throws parameterInvalid (account) for an unknown account. */
async function requireAccount(sql: AnySql, accountId: number): Promise<void> {
  if (!(await accountExists(sql, accountId))) throw invalidParameter('account', 'does not exist')
}

import { type BrowsedSuppression, type BrowseFilter, browse, countBrowsed } from './browse.ts'
import { addAll, addOne, removeAll, type SuppressionsDependencies } from './change-list.ts'
import { holding } from './holding.ts'
import { createImporter, type ImportReport, type SuppressionImport } from './import.ts'
import { listPage, pagesOf } from './list.ts'
import { countOfGroups, deleteEnded, selectOfGroups } from './store.ts'
import type {
  COUNTED,
  MatchingSuppression,
  NewSuppression,
  Suppression,
  SuppressionChange,
  SuppressionFilter,
  SuppressionPage,
  SuppressionRemoval,
} from './suppression.ts'

export type { BrowsedSuppression, BrowseFilter } from './browse.ts'
export type { SuppressionsDependencies } from './change-list.ts'
export type { ImportProblem, ImportReport, ImportRow, SuppressionImport } from './import.ts'
export * from './suppression.ts'

export interface Suppressions {
  /**
   * Adds one entry. Idempotent. Throws the same errors as {@link Suppressions.addAll}.
   */
  add(suppression: NewSuppression): Promise<void>
  /**
   * Adds all entries or none; returns how many were new. An automatic entry that is added manually no longer expires. An existing entry keeps its
   * reason, but an unsubscribe replaces any except `abuse`, which replaces an unsubscribe; both are remembered.
   *
   * Throws suppressionEmailInvalid, suppressionDomainInvalid, tooLarge, parameterMissing (email), parameterInvalid
   * (account, domain).
   */
  addAll(change: SuppressionChange): Promise<number>
  /**
   * Removes entries from this list only; returns how many existed. Of a recipient who complained and unsubscribed, the one is left if only the other is
   * removed. Throws the same errors as {@link Suppressions.addAll}.
   */
  removeAll(removal: SuppressionRemoval): Promise<number>
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
  holding(accountId: number, email: string, group?: number): Promise<MatchingSuppression[]>
  /** Yields the whole list in pages, in its order. Concurrent changes may or may not be included. */
  pages(accountId: number): AsyncIterable<readonly Suppression[]>
  /** See import.ts. */
  import(list: SuppressionImport): Promise<ImportReport>
  /** Deletes a batch of expired automatic entries. Returns how many. */
  forgetEnded(): Promise<number>
}

const DELETED_PER_BATCH = 5000

export function createSuppressions(dependencies: SuppressionsDependencies): Suppressions {
  const { sql } = dependencies
  return {
    add: (suppression) => addOne(dependencies, suppression),
    addAll: (change) => addAll(dependencies, change),
    removeAll: (removal) => removeAll(dependencies, removal),
    list: (accountId, filter) => listPage(sql, accountId, filter),
    holding: (accountId, email, group) => holding(dependencies, accountId, email, group),
    browse: (accountId, filter) => browse(sql, accountId, filter),
    countBrowsed: (accountId, filter) => countBrowsed(sql, accountId, filter),
    countOfGroups: (accountId, group) => countOfGroups(sql, accountId, group),
    ofGroups: (accountId, page) => selectOfGroups(sql, accountId, page),
    pages: (accountId) => pagesOf(sql, accountId),
    import: createImporter(sql),
    forgetEnded: () => deleteEnded(sql, DELETED_PER_BATCH),
  }
}

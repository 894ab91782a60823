import { type Actor, OPERATOR } from '../accounts/audit/index.ts'
import { BULK, NORMAL, URGENT } from '../accounts/mail-class.ts'
import { loadProviders } from '../delivery/providers/providers.ts'
import type { Config } from '../platform/config/config.ts'
import type { Sql, SqlTransaction } from '../platform/database/database.ts'
import type { Batch } from '../reporting/events/index.ts'
import { type CountsOfSpan, type SpanOfCounts, selectAccountHours } from './account-hours.ts'
import { type AccountFigures, type AccountQuery, listFigures } from './account-list.ts'
import { countDeliveries } from './count-deliveries.ts'
import { evaluateSome, type StandingChange } from './evaluate.ts'
import { foldCounts } from './fold.ts'
import { type HourSums, readRecentSums } from './recent-sums.ts'
import { forgetRepeats, noteRepeats, type Repeated } from './repeats.ts'
import {
  type AccountStanding,
  holdAccount,
  listHolds,
  type NewHold,
  type Purged,
  purgeAccount,
  releaseAccount,
  type ShownHold,
  setRules,
  showStanding,
} from './standing.ts'

export type { CountsOfSpan, SpanOfCounts } from './account-hours.ts'
export { ACCOUNT_FILTERS, type AccountFigures, type AccountFilter, type AccountQuery } from './account-list.ts'
export type { StandingChange } from './evaluate.ts'
export type { HourSums } from './recent-sums.ts'
export type { Repeated } from './repeats.ts'
export type { AccountStanding, Purged, ShownHold } from './standing.ts'

/** How mail of an account fares, and what follows from it. */
export interface Reputation {
  /** See count-deliveries.ts. */
  count(sql: SqlTransaction, batch: Batch): Promise<void>
  /** See evaluate.ts. */
  evaluateSome(): Promise<{ readonly changes: readonly StandingChange[]; readonly more: boolean }>
  /** See repeats.ts. */
  noteRepeats(repeated: readonly Repeated[]): Promise<number[]>
  /** See standing.ts. */
  show(accountId: number): Promise<AccountStanding>
  list(): Promise<(ShownHold & { readonly accountId: number })[]>
  /** See account-list.ts. */
  accounts(query: AccountQuery): Promise<{ readonly accounts: readonly AccountFigures[]; readonly total: number }>
  setRules(accountId: number, rules: string | null, by?: Actor): Promise<void>
  /** All classes if they are not given. */
  hold(hold: Omit<NewHold, 'classes'> & Partial<Pick<NewHold, 'classes'>>, by?: Actor): Promise<void>
  release(accountId: number, by?: Actor): Promise<string[]>
  purge(accountId: number, options?: { by?: Actor; onProgress?: (dropped: number) => void }): Promise<Purged>
  /** See account-hours.ts. */
  counts(accountId: number, span: SpanOfCounts): Promise<CountsOfSpan[]>
  /** See recent-sums.ts. */
  recentSums(): Promise<HourSums[]>
  /** See fold.ts and repeats.ts. */
  forgetOld(): Promise<number>
}

export interface ReputationDependencies {
  readonly sql: Sql
  readonly config: Config
}

export function createReputation({ sql, config }: ReputationDependencies): Reputation {
  const { reputationRules } = config
  let providers: readonly string[] | undefined
  return {
    count(transaction, batch) {
      providers ??= loadProviders(config.providersFile).all.map(({ name }) => name)
      return countDeliveries(transaction, batch, providers)
    },
    evaluateSome: () => evaluateSome({ sql, defaultRules: reputationRules }),
    noteRepeats: (repeated) => noteRepeats(sql, repeated, reputationRules),
    show: (accountId) => showStanding(sql, accountId, config),
    list: () => listHolds(sql, config),
    accounts: (query) => listFigures(sql, query),
    setRules: (accountId, rules, by = OPERATOR) => setRules(sql, accountId, { rules, by }),
    hold: ({ classes = [URGENT, NORMAL, BULK], ...hold }, by = OPERATOR) => holdAccount(sql, { ...hold, classes }, by),
    release: (accountId, by = OPERATOR) => releaseAccount(sql, accountId, by),
    purge: (accountId, { by = OPERATOR, onProgress } = {}) => purgeAccount(sql, accountId, { by, onProgress }),
    counts: (accountId, span) => selectAccountHours(sql, accountId, span),
    recentSums: () => readRecentSums(sql),
    forgetOld: async () => (await foldCounts(sql)) + (await forgetRepeats(sql)),
  }
}

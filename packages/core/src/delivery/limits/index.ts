import type { Config } from '../../platform/config/config.ts'
import type { Sql } from '../../platform/database/database.ts'
import { countWorkers } from '../leases/lease.ts'
import { type AccountHold, type RecipientHold, readAccountHolds, readRecipientHolds } from '../queue/account-holds.ts'
import { forgetProgress } from '../queue/flow-progress.ts'
import { type RequirementHolds, readRequirementHolds } from '../queue/requirement-holds.ts'
import { type Block, judgeOffers } from './judge-offers.ts'
import { lowerConnections, type RefusedSession, raiseConnections } from './lower-connections.ts'
import { countOffers, forgetOffers, forgetOldOffers, type Offers } from './offers.ts'
import {
  endPauses,
  forgetOverrides,
  LIMITS_CHANNEL,
  type NewOverride,
  type Override,
  raiseRates,
  readOverrides,
  setOverride,
  takeProbe,
} from './overrides.ts'
import { forgetPastLimits } from './past-limits.ts'
import { countRefusals, forgetRefusals, type NewRefused } from './refusals.ts'
import { countHits, forgetHits, type RuleHits } from './rule-hits.ts'

/** The limits of destinations that all workers share. */
export interface DeliveryLimits {
  /** See overrides.ts. */
  overrides(first?: readonly string[]): Promise<Override[]>
  set(override: NewOverride): Promise<void>
  raise(): Promise<void>
  /** See lower-connections.ts. */
  lowerConnections(session: RefusedSession): Promise<boolean>
  takeProbe(destination: string): Promise<(number | null)[]>
  endPauses(destination: string, tried: { readonly accountId: number; readonly isTaken: boolean }): Promise<void>
  /** See account-holds.ts. */
  accountHolds(): Promise<AccountHold[]>
  recipientHolds(): Promise<RecipientHold[]>
  /** See requirement-holds.ts. */
  requirementHolds(): Promise<RequirementHolds>
  /** See rule-hits.ts. */
  countHits(hits: RuleHits): Promise<number>
  /** Adds offers at a destination to those of all workers, and returns whose mail it refuses. See judge-offers.ts. */
  judge(destination: string, offers: readonly Offers[]): Promise<readonly Block[]>
  /** See offers.ts. */
  forgetOffers(destination: string, accountId: number | null): Promise<void>
  /** See refusals.ts. */
  countRefusals(refused: readonly NewRefused[]): Promise<void>
  /** Number of workers. */
  workers(): Promise<number>
  /** Calls back when the overrides have changed, or may have. */
  listen(onChanged: () => void): Promise<{ close(): Promise<void> }>
  forgetOld(): Promise<number>
}

export function createLimits(sql: Sql, { requirements }: Pick<Config, 'requirements'>): DeliveryLimits {
  return {
    overrides: (first) => readOverrides(sql, first),
    set: (override) => setOverride(sql, override),
    async raise() {
      await raiseRates(sql)
      await raiseConnections(sql)
    },
    lowerConnections: (session) => lowerConnections(sql, session),
    takeProbe: (destination) => takeProbe(sql, destination),
    endPauses: (destination, tried) => endPauses(sql, destination, tried),
    accountHolds: () => readAccountHolds(sql),
    recipientHolds: () => readRecipientHolds(sql),
    requirementHolds: () => readRequirementHolds(sql, requirements),
    countHits: (hits) => countHits(sql, hits),
    judge: async (destination, offers) => judgeOffers(await countOffers(sql, destination, offers)),
    forgetOffers: (destination, accountId) => forgetOffers(sql, destination, accountId),
    countRefusals: (refused) => countRefusals(sql, refused),
    workers: () => countWorkers(sql),
    async listen(onChanged) {
      const listening = await sql.listen(LIMITS_CHANNEL, onChanged, onChanged)
      return { close: listening.unlisten }
    },
    async forgetOld() {
      const forgets = [forgetOverrides, forgetPastLimits, forgetHits, forgetOldOffers, forgetRefusals, forgetProgress]
      let forgotten = 0
      for (const forget of forgets) forgotten += await forget(sql)
      return forgotten
    },
  }
}

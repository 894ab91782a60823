import { type Actor, OPERATOR } from '../../accounts/audit/index.ts'
import { createCache } from '../../platform/cache.ts'
import type { Sql } from '../../platform/database/database.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { type Egress, type Pool, type PoolRule, readEgress, type Source } from './egress.ts'
import {
  addPool,
  addPoolRule,
  changePool,
  type NewPoolRule,
  type PoolSettings,
  removePool,
  removePoolRule,
} from './manage-pools.ts'
import {
  addSource,
  type ConfirmAddresses,
  changeSource,
  type NewSource,
  registerSources,
  removeSource,
  type SourceChange,
} from './manage-sources.ts'
import {
  addSmartHost,
  type NewSmartHost,
  type OpenSmartHost,
  readSmartHosts,
  removeSmartHost,
  type SmartHost,
} from './smart-hosts.ts'
import { addResults, advanceWarmUps, noteBlocked, noteSpent, type SourceResults, type WarmUpKey } from './warm-up.ts'

export { isEgressName } from './change-egress.ts'
export * from './checks/index.ts'
export { chooseSource, hasSource, type SourceChoice, type SourcedMail } from './choose-source.ts'
export { DEFAULT_POOL, type Egress, type Pool, type PoolRule, readEgress, type Source } from './egress.ts'
export type { NewPoolRule, PoolSettings } from './manage-pools.ts'
export type { NewSource, SourceChange } from './manage-sources.ts'
export {
  type NewSmartHost,
  type OpenSmartHost,
  SMART_HOST_USES,
  type SmartHost,
  type SmartHostUse,
  smartHostDestination as smartHostPlace,
  smartHostOf,
  withoutSecret,
} from './smart-hosts.ts'
export {
  capOf,
  OTHER_PROVIDERS,
  type SourceResults,
  WARM_UP_PLANS,
  type WarmUp,
  type WarmUpKey,
  type WarmUpPlan,
  warmUpRates,
} from './warm-up.ts'

/** The addresses that mail is sent from, their pools, and the rules that choose a pool. */
export interface Sources {
  /** See egress.ts. */
  read(): Promise<Egress>
  /** Whether messages may name this pool. As long as there are no pools, every name is accepted, and without effect. */
  mayUse(pool: string): Promise<boolean>
  /** See manage-sources.ts. */
  add(source: NewSource, by?: Actor): Promise<Source>
  change(name: string, change: SourceChange, by?: Actor): Promise<Source>
  remove(name: string, by?: Actor): Promise<void>
  register(workerId: number, sourceIds: readonly number[]): Promise<number>
  /** See warm-up.ts. */
  noteSpent(key: WarmUpKey, seconds: number): Promise<void>
  noteBlocked(key: WarmUpKey): Promise<void>
  addResults(results: readonly SourceResults[]): Promise<void>
  advanceWarmUps(): Promise<number>
  /** See smart-hosts.ts. */
  smartHosts(): Promise<OpenSmartHost[]>
  addSmartHost(host: NewSmartHost, by?: Actor): Promise<SmartHost>
  removeSmartHost(name: string, by?: Actor): Promise<void>
  /** See manage-pools.ts. */
  addPool(name: string, settings: PoolSettings, by?: Actor): Promise<Pool>
  changePool(name: string, settings: PoolSettings, by?: Actor): Promise<Pool>
  removePool(name: string, by?: Actor): Promise<void>
  addRule(rule: NewPoolRule, by?: Actor): Promise<PoolRule>
  removeRule(id: number, by?: Actor): Promise<void>
}

/** Milliseconds that the names of pools are cached. */
const NAMES_AGE_MS = 5000

export interface SourcesDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  /** Called for new sources. */
  readonly confirm: ConfirmAddresses
}

export function createSources({ sql, secrets, confirm }: SourcesDependencies): Sources {
  const poolNames = createCache({
    maxAge: NAMES_AGE_MS,
    maxEntries: 1,
    load: async () => new Map((await readEgress(sql)).pools.map(({ name, isReserved }) => [name, !isReserved])),
  })
  return {
    read: () => readEgress(sql),
    async mayUse(pool) {
      const names = await poolNames.get('')
      return names.size === 0 || names.get(pool) === true
    },
    add: (source, by = OPERATOR) => addSource({ sql, confirm }, source, by),
    change: (name, change, by = OPERATOR) => changeSource(sql, name, change, by),
    remove: (name, by = OPERATOR) => removeSource(sql, name, by),
    register: (workerId, sourceIds) => registerSources(sql, workerId, sourceIds),
    noteSpent: (key, seconds) => noteSpent(sql, key, seconds),
    noteBlocked: (key) => noteBlocked(sql, key),
    addResults: (results) => addResults(sql, results),
    advanceWarmUps: () => advanceWarmUps(sql),
    smartHosts: () => readSmartHosts(sql, secrets),
    addSmartHost: (host, by = OPERATOR) => addSmartHost(sql, secrets, host, by),
    removeSmartHost: (name, by = OPERATOR) => removeSmartHost(sql, name, by),
    addPool: (name, settings, by = OPERATOR) => addPool(sql, name, settings, by),
    changePool: (name, settings, by = OPERATOR) => changePool(sql, name, settings, by),
    removePool: (name, by = OPERATOR) => removePool(sql, name, by),
    addRule: (rule, by = OPERATOR) => addPoolRule(sql, rule, by),
    removeRule: (id, by = OPERATOR) => removePoolRule(sql, id, by),
  }
}

import { type Actor, OPERATOR } from '../../accounts/audit/index.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Sql } from '../../platform/database/database.ts'
import { createDnssec, type Dnssec } from '../../platform/net/dnssec/index.ts'
import type { Log } from '../../platform/process/log.ts'
import { createDane, type Dane } from './dane.ts'
import type { TlsDemand } from './levels.ts'
import { createTlsResults, type TlsResults } from './results.ts'
import {
  accountTls,
  accountTlsVersion,
  listTlsRules,
  readTlsRules,
  setTlsRule,
  TLS_CHANNEL,
  type TlsRule,
  type TlsTarget,
  tlsDomain,
} from './rules.ts'
import { type DomainTls, showDomainTls } from './show.ts'
import { createStsPolicies, type StsPolicies } from './sts-policies.ts'

export type { Dnssec, SecureAnswer, Validation } from '../../platform/net/dnssec/index.ts'
export type { Dane, HostDane } from './dane.ts'
export { daneFor } from './dane.ts'
export { isListed } from './fetch-policy.ts'
export { type IncomingPolicy, readIncomingPolicy } from './incoming-policy.ts'
export * from './levels.ts'
export type { TlsResult, TlsResults, TlsSession } from './results.ts'
export type { TlsRule, TlsTarget } from './rules.ts'
export type { DomainTls } from './show.ts'
export type { DomainPolicy, StsPolicies } from './sts-policies.ts'
export type { StoredPolicy } from './sts-store.ts'
export { matches, type TlsaRecord } from './tlsa.ts'

/** Demands on the connections to recipients' servers. */
export interface Tls {
  /** See rules.ts. */
  rules(): Promise<TlsRule[]>
  list(filter: { readonly domain?: string | undefined; readonly limit: number }): Promise<TlsRule[]>
  /** See show.ts. */
  show(domain: string): Promise<DomainTls>
  ofAccount(accountId: number): Promise<TlsDemand | 'none'>
  /** The TLS version given with what it demands. */
  versionOf(accountId: number): Promise<number | undefined>
  /** `version` is only shown (versionOf). */
  set(
    target: TlsTarget,
    level: string,
    by?: Actor,
    version?: number,
  ): Promise<TlsTarget & { readonly level: TlsDemand | 'none' }>
  /** Calls back when the rules have changed, or may have. */
  listen(onChanged: () => void): Promise<{ close(): Promise<void> }>
  /** See sts-policies.ts. */
  readonly sts: StsPolicies
  /** The resolver that validates DNSSEC. */
  readonly dnssec: Dnssec
  /** See dane.ts. */
  readonly dane: Dane
  /** See results.ts. */
  readonly results: TlsResults
}

export interface TlsDependencies {
  readonly sql: Sql
  readonly log: Log
  readonly config: Pick<
    Config,
    'dnsServers' | 'allowPrivateMx' | 'delivery' | 'dnssecResolver' | 'mxPort' | 'serviceDomain'
  >
}

export function createTls({ sql, log, config }: TlsDependencies): Tls {
  const dnssec = createDnssec({ config, log })
  const dane = createDane({ dnssec, mxPort: config.mxPort })
  return {
    rules: () => readTlsRules(sql),
    list: ({ domain, limit }) => listTlsRules(sql, domain === undefined ? undefined : tlsDomain(domain), limit),
    show: (domain) => showDomainTls({ sql, config, dnssec, dane }, domain),
    ofAccount: (accountId) => accountTls(sql, accountId),
    versionOf: (accountId) => accountTlsVersion(sql, accountId),
    set: (target, level, by = OPERATOR, version) => setTlsRule(sql, target, { level, version, by }),
    async listen(onChanged) {
      const listening = await sql.listen(TLS_CHANNEL, onChanged, onChanged)
      return { close: listening.unlisten }
    },
    sts: createStsPolicies({ sql, log, config }),
    dnssec,
    dane,
    results: createTlsResults({ sql, config }),
  }
}

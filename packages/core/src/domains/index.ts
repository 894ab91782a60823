import { isIP } from 'node:net'
import { type Actor, noteChange, OPERATOR } from '../accounts/audit/index.ts'
import { HOUR, type Rate, type RateLimits, requireAllowed } from '../accounts/rate-limits/index.ts'
import { createCache } from '../platform/cache.ts'
import type { Config } from '../platform/config.ts'
import type { Sql } from '../platform/database/database.ts'
import { invalidParameter } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { addDomain, type NewSendingDomain } from './add-domain.ts'
import { checkDomain } from './check-domain.ts'
import { endIfOver } from './claim.ts'
import { createKeyMaker, type KeyMaker, openDkimKey } from './dkim-key.ts'
import { makeNextKey, takeNextKey } from './dkim-rotation.ts'
import type { Domain, DomainSigner, DomainState, DomainWithRecords, UsableDomain } from './domain.ts'
import { selectDkimKey, selectPublicKeys } from './keys-store.ts'
import { activateFor, namedDomain } from './operator.ts'
import { changeOwnDomain, domainName, ownDomain } from './own-domain.ts'
import { ownTrackingHost, type ServiceHosts, wantedRecords, withSeen } from './records.ts'
import {
  claimDueDomains,
  deleteDomain,
  noteActivity,
  type StoredDomain,
  selectDomainById,
  selectDomainPage,
  selectDomains,
  selectHolder,
  selectOwn,
  updateShared,
} from './store.ts'

export type {
  DkimSigner,
  DnsRecord,
  Domain,
  DomainSigner,
  DomainState,
  DomainWithRecords,
  UsableDomain,
} from './domain.ts'

/** Milliseconds. As with keys, changes by the operator take effect everywhere within 5 s. */
const DOMAIN_AGE_MS = 3000
/** Milliseconds. Keys change only by rotation, and the old one stays valid, so a minute is acceptable. */
const SIGNER_AGE_MS = 60_000
/** Number of domains that one round checks concurrently. */
const CONCURRENT_CHECKS = 5

/**
 * All functions that take an account throw domainInvalid, and domainUnknown unless the domain belongs to the account.
 */
export interface Domains {
  /**
   * Claims a sending domain and creates its DKIM key. The account owns the domain once its records are valid. Throws
   * domainInvalid, domainTaken, domainClaimsTooMany, parameterInvalid (envelopeName, account), rateLimited.
   */
  add(domain: NewSendingDomain): Promise<DomainWithRecords>
  /** Lists all domains, or those of one account. */
  list(accountId?: number): Promise<Domain[]>
  /**
   * Returns a page of the account's domains by name, with the state of their records. `status`: a state, `1` for
   * active, `0` for not active. Throws parameterInvalid (status), domainInvalid (malformed name).
   */
  page(accountId: number, page: DomainsPage): Promise<{ domains: DomainWithRecords[]; total: number }>
  /**
   * For the operator: returns the account's domain with this name. Without an account: the domain of the account that
   * owns it, or the only claim. Throws domainInvalid for an unknown domain; parameterInvalid (account) if several
   * accounts claim it.
   */
  show(name: string, accountId?: number): Promise<DomainWithRecords>
  /**
   * Activates the domain that {@link show} returns, and throws the same errors; also domainTaken if another account
   * owns the name.
   */
  activate(name: string, act?: { by?: Actor; accountId?: number | undefined }): Promise<DomainWithRecords>
  /** Looks up the records now; takes at most 10 s. */
  verify(accountId: number, name: string, by: Actor): Promise<DomainWithRecords>
  /** Deletes a domain. Accepted mail is still delivered and signed, and any account can add the name. */
  remove(accountId: number, name: string, by: Actor): Promise<void>
  /** Creates the next DKIM key, which signs as soon as its record exists. Throws rateLimited. */
  rotateDkim(accountId: number, name: string, by: Actor): Promise<DomainWithRecords>
  /** Sets the account's own DKIM key (PEM) as the next key. Throws parameterInvalid (privateKey, selector). */
  setDkimKey(
    accountId: number,
    key: { name: string; privateKey: string; selector: string },
    by: Actor,
  ): Promise<{ domain: DomainWithRecords; warnings: string[] }>
  /** Sets whether the account's subaccounts may send from the domain. */
  share(accountId: number, change: { name: string; shared: boolean }, by: Actor): Promise<DomainWithRecords>
  /**
   * Checks the domains that are due, the most overdue first; any number of workers may do this concurrently. Returns
   * how many were due. If checks failed, throws the first error after checking the others; a domain whose check failed
   * is due again in 10 minutes.
   */
  checkDue(round: { limit: number; signal?: AbortSignal }): Promise<number>
  /**
   * Returns the active domain with this name (A-label) that the account may send from: its own, or a shared one of its
   * parent. The result is at most 5 s old.
   */
  findActive(
    accountId: number,
    name: string,
    parentId?: number | null,
  ): Promise<UsableDomain | null> | UsableDomain | null
  /** The state of the account's own domain of this name (A-label), pending ones included; null if it has none. At most 5 s old. */
  stateOf(accountId: number, name: string): Promise<DomainState | null> | DomainState | null
  /** What signs for this domain, also when it was deleted; null: it never was. */
  signer(domainId: number): Promise<DomainSigner | null> | DomainSigner | null
}

export interface DomainsPage {
  readonly status?: string | undefined
  readonly name?: string | undefined
  readonly limit: number
  readonly offset: number
}

export interface DomainsDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly rateLimits: RateLimits
  readonly config: Pick<Config, 'returnPathHost' | 'publicUrl' | 'heloName' | 'dnsServers' | 'domainGraceHours'>
}

export function domainsOf({ sql, secrets, rateLimits, config }: DomainsDependencies): Domains {
  const hosts = serviceHosts(config)
  const byName = createCache<UsableDomain | null>({
    maxAge: DOMAIN_AGE_MS,
    maxEntries: 50_000,
    load: async (name) => {
      const domain = await selectHolder(sql, name)
      return domain ? { ...withoutRecords(domain), trackingHost: ownTrackingHost(domain, domain.records) } : null
    },
  })
  const states = createCache<DomainState | null>({
    maxAge: DOMAIN_AGE_MS,
    maxEntries: 10_000,
    load: async (key) => {
      const [accountId = '', name = ''] = key.split(' ')
      return (await selectOwn(sql, Number(accountId), name))?.state ?? null
    },
  })
  const signers = createCache<DomainSigner | null>({
    maxAge: SIGNER_AGE_MS,
    maxEntries: 10_000,
    load: async (id) => {
      const stored = await selectDkimKey(sql, Number(id))
      if (!stored) return null
      const { domain, selector, returnPathHost } = stored
      return { domain, selector, returnPathHost, privateKey: openDkimKey(secrets, stored) }
    },
  })
  const keyMaker = createKeyMaker(secrets)
  /** Limits the keys an account generates per hour, over all processes; the operator has no limit. */
  const makeKeyFor =
    ({ keyId }: Actor): KeyMaker =>
    async (accountId, name) => {
      if (keyId !== null) requireAllowed(await rateLimits.take([newKeys(accountId)]))
      return keyMaker(accountId, name)
    }
  const invalidate = (domain: Domain): void => {
    byName.forget(domain.name)
    states.forget(`${domain.accountId} ${domain.name}`)
    signers.forget(String(domain.id))
  }

  async function withRecords(domains: readonly StoredDomain[]): Promise<DomainWithRecords[]> {
    const keys = Map.groupBy(
      await selectPublicKeys(
        sql,
        domains.map(({ id }) => id),
      ),
      ({ domainId }) => domainId,
    )
    return domains.map(({ records, ...domain }) => {
      return { ...domain, dns: withSeen(wantedRecords(domain, keys.get(domain.id) ?? [], hosts), records) }
    })
  }
  async function withDns(domain: StoredDomain): Promise<DomainWithRecords> {
    const [withDns] = await withRecords([domain])
    return withDns as DomainWithRecords
  }
  const checking = new Map<number, Promise<StoredDomain>>()
  /** Concurrent checks of a domain share one lookup, so that calls cannot flood a name server. */
  function checkNow(domain: StoredDomain, by: Actor): Promise<StoredDomain> {
    const pending = checking.get(domain.id) ?? check(domain, by).finally(() => checking.delete(domain.id))
    checking.set(domain.id, pending)
    return pending
  }
  async function check(domain: StoredDomain, by: Actor, signal?: AbortSignal): Promise<StoredDomain> {
    const { dnsServers, domainGraceHours } = config
    const checked = await checkDomain(domain, {
      sql,
      hosts,
      dnsServers,
      by,
      signal,
      graceMs: domainGraceHours * HOUR_MS,
    })
    invalidate(checked)
    return checked
  }

  return {
    async add({ state = 'pending', by = OPERATOR, envelopeName, ...domain }) {
      const added = await addDomain({ sql, makeKey: makeKeyFor(by) }, { ...domain, state, by, envelopeName })
      invalidate(added)
      return withDns(added)
    },
    list: async (accountId) => (await selectDomains(sql, accountId)).map(withoutRecords),
    async page(accountId, { status, name, ...page }) {
      const wanted = { ...page, states: statesOf(status), name: name === undefined ? undefined : domainName(name) }
      const { domains, total } = await selectDomainPage(sql, accountId, wanted)
      return { domains: await withRecords(domains), total }
    },
    show: async (name, accountId) => withDns(await namedDomain(sql, name, accountId)),
    async activate(name, { by = OPERATOR, accountId } = {}) {
      const active = await activateFor(sql, await namedDomain(sql, name, accountId), by)
      invalidate(active)
      return withDns(active)
    },
    verify: async (accountId, name, by) => withDns(await checkNow(await ownDomain(sql, accountId, name), by)),
    async remove(accountId, name, by) {
      const domain = await ownDomain(sql, accountId, name)
      await changeOwnDomain(sql, domain, async (transaction, { id, name, state, envelopeName }) => {
        await deleteDomain(transaction, id)
        const before = { state, envelopeName }
        await noteChange(transaction, { accountId, by, action: 'domain.delete', object: `domain ${name}`, before })
        await noteActivity(transaction, domain, { before: state, after: undefined })
      })
      invalidate(domain)
    },
    async rotateDkim(accountId, name, by) {
      const domain = await ownDomain(sql, accountId, name)
      await makeNextKey(domain, { sql, makeKey: makeKeyFor(by), by })
      return withDns(domain)
    },
    async setDkimKey(accountId, { name, ...key }, by) {
      const domain = await ownDomain(sql, accountId, name)
      const warnings = await takeNextKey(domain, key, { sql, secrets, by })
      return { domain: await withDns(domain), warnings }
    },
    async share(accountId, { name, shared }, by) {
      const domain = await ownDomain(sql, accountId, name)
      const after = await changeOwnDomain(sql, domain, async (transaction, before) => {
        if (before.shared === shared) return before
        const change = { object: `domain ${before.name}`, before: { shared: before.shared }, after: { shared } }
        await noteChange(transaction, { accountId, by, action: 'domain.share', ...change })
        return updateShared(transaction, before.id, shared)
      })
      invalidate(after)
      return withDns(after)
    },
    async checkDue({ limit, signal }) {
      const due = await claimDueDomains(sql, limit)
      const left = [...due]
      const failures: unknown[] = []
      const checkOne = async (id: number): Promise<void> => {
        const domain = await selectDomainById(sql, id)
        if (domain) await endIfOver(sql, await check(domain, OPERATOR, signal))
      }
      const work = async (): Promise<void> => {
        for (let id = left.shift(); id !== undefined && !signal?.aborted; id = left.shift()) {
          await checkOne(id).catch((error: unknown) => failures.push(error))
        }
      }
      await Promise.all(Array.from({ length: CONCURRENT_CHECKS }, work))
      if (failures.length > 0) throw failures[0]
      return due.length
    },
    findActive(accountId, name, parentId = null) {
      const found = byName.get(name)
      return found instanceof Promise
        ? found.then((domain) => usable(domain, accountId, parentId))
        : usable(found, accountId, parentId)
    },
    stateOf: (accountId, name) => states.get(`${accountId} ${name}`),
    signer: (domainId) => signers.get(String(domainId)),
  }
}

const HOUR_MS = 3_600_000
/** Generating a key takes a fifth of a second of processor time. */
const MAX_KEYS_PER_HOUR = 100

function newKeys(accountId: number): Rate {
  return { name: `dkim keys ${accountId}`, what: 'new DKIM keys per hour', limit: MAX_KEYS_PER_HOUR, seconds: HOUR }
}

/** Drops the record states, which are too large to cache for 50,000 domains. */
function withoutRecords({ records: _, ...domain }: StoredDomain): Domain {
  return domain
}

function usable(domain: UsableDomain | null, accountId: number, parentId: number | null): UsableDomain | null {
  if (domain?.state !== 'active') return null
  return domain.accountId === accountId || (domain.shared && domain.accountId === parentId) ? domain : null
}

function statesOf(status: string | undefined): DomainState[] | undefined {
  if (status === undefined) return undefined
  const states = STATUSES.get(status)
  if (!states) throw invalidParameter('status', `must be one of: ${[...STATUSES.keys()].join(', ')}`)
  return [...states]
}

const STATUSES: ReadonlyMap<string, readonly DomainState[]> = new Map<string, readonly DomainState[]>([
  ['1', ['active']],
  ['0', ['pending', 'inactive', 'rejected']],
  ...(['pending', 'active', 'inactive', 'rejected'] as const).map((state) => [state, [state]] as const),
])

/**
 * Hosts that records point to. A CNAME needs a host name: if PUBLIC_URL has an IP address or a name without a dot,
 * HELO_NAME is used.
 */
function serviceHosts({ returnPathHost, publicUrl, heloName }: DomainsDependencies['config']): ServiceHosts {
  const { hostname } = new URL(publicUrl)
  const named = hostname.includes('.') && isIP(hostname) === 0
  return { returnPath: returnPathHost, tracking: named ? hostname : heloName }
}

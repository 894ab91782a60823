import { isIP } from 'node:net'
import { type Actor, noteChange, OPERATOR } from '../audit/index.ts'
import { createCache } from '../cache.ts'
import type { Config } from '../config.ts'
import type { Sql } from '../database.ts'
import { invalidParameter, ServiceError } from '../errors.ts'
import { parseDomain } from '../recipients/address.ts'
import type { Secrets } from '../secrets.ts'
import { addDomain, type NewSendingDomain } from './add-domain.ts'
import { checkDomain } from './check-domain.ts'
import { createKeyMaker, openDkimKey } from './dkim-key.ts'
import { makeNextKey, takeNextKey } from './dkim-rotation.ts'
import type { Domain, DomainSigner, DomainState, DomainWithRecords, UsableDomain } from './domain.ts'
import { selectDkimKey, selectPublicKeys } from './keys-store.ts'
import { changeOwnDomain, domainName, ownDomain } from './own-domain.ts'
import { ownTrackingHost, type ServiceHosts, wantedRecords, withSeen } from './records.ts'
import {
  activateDomain,
  claimDueDomains,
  deleteDomain,
  noteActivity,
  type StoredDomain,
  selectDomain,
  selectDomainById,
  selectDomainPage,
  selectDomains,
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

/** As with keys: what an operator changes holds everywhere within 5 s. */
const DOMAIN_AGE_MS = 3000
/** Keys change by rotation only, which keeps the old one valid; a minute is soon enough. */
const SIGNER_AGE_MS = 60_000
/** Domains of one round that are looked up at the same time. */
const LOOKS_AT_ONCE = 5

/** Every act that names an account throws domainInvalid, and domainUnknown unless the domain is the account's. */
export interface Domains {
  /**
   * Adds a sending domain with a DKIM key of its own. Throws domainInvalid, domainTaken, parameterInvalid (envelopeName,
   * account).
   */
  add(domain: NewSendingDomain): Promise<DomainWithRecords>
  /** All domains, or those of one account. */
  list(accountId?: number): Promise<Domain[]>
  /**
   * The account's domains by name, with what was seen of their records. `status`: a state, `1` active, `0` not active. Throws
   * parameterInvalid (status), domainInvalid (a name that is none).
   */
  page(accountId: number, page: DomainsPage): Promise<{ domains: DomainWithRecords[]; total: number }>
  /** Throws domainInvalid for an unknown domain. */
  show(name: string): Promise<DomainWithRecords>
  /** Throws domainInvalid for an unknown domain. */
  activate(name: string, by?: Actor): Promise<DomainWithRecords>
  /** Looks the records up now: at most 10 s. */
  verify(accountId: number, name: string, by: Actor): Promise<DomainWithRecords>
  /** Mail that was accepted is still delivered and signed; the name is free for anybody. */
  remove(accountId: number, name: string, by: Actor): Promise<void>
  /** Makes the next DKIM key, which signs once its record was seen. */
  rotateDkim(accountId: number, name: string, by: Actor): Promise<DomainWithRecords>
  /** Takes an own DKIM key (PEM) as the next one. Throws parameterInvalid (privateKey, selector). */
  setDkimKey(
    accountId: number,
    key: { name: string; privateKey: string; selector: string },
    by: Actor,
  ): Promise<{ domain: DomainWithRecords; warnings: string[] }>
  /** Lets the account's subaccounts send from the domain, or no more. */
  share(accountId: number, change: { name: string; shared: boolean }, by: Actor): Promise<DomainWithRecords>
  /** Looks after the domains that are due, the longest due first; any number of workers may. Answers how many there were. */
  checkDue(round: { limit: number; signal?: AbortSignal }): Promise<number>
  /**
   * The active domain of this name (A-label) that the account may send from: its own, or a shared one of its parent. At most
   * 5 s old.
   */
  findActive(
    accountId: number,
    name: string,
    parentId?: number | null,
  ): Promise<UsableDomain | null> | UsableDomain | null
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
  readonly config: Pick<Config, 'returnPathHost' | 'publicUrl' | 'heloName' | 'dnsServers' | 'domainGraceHours'>
}

export function domainsOf({ sql, secrets, config }: DomainsDependencies): Domains {
  const hosts = serviceHosts(config)
  const byName = createCache<UsableDomain | null>({
    maxAge: DOMAIN_AGE_MS,
    maxEntries: 50_000,
    load: async (name) => {
      const domain = await selectDomain(sql, name)
      return domain ? { ...bare(domain), trackingHost: ownTrackingHost(domain, domain.records) } : null
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
  const makeKey = createKeyMaker(secrets)
  const changed = (domain: Domain): void => {
    byName.forget(domain.name)
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
  async function shown(domain: StoredDomain | undefined): Promise<DomainWithRecords> {
    const [shown] = domain ? await withRecords([domain]) : []
    if (!shown) throw new ServiceError('domainInvalid', { reason: 'unknown domain' })
    return shown
  }
  const looking = new Map<number, Promise<StoredDomain>>()
  /** Calls that come while a domain is looked up share what is seen: nobody has us flood a name server. */
  function checkNow(domain: StoredDomain, by: Actor): Promise<StoredDomain> {
    const look = looking.get(domain.id) ?? check(domain, by).finally(() => looking.delete(domain.id))
    looking.set(domain.id, look)
    return look
  }
  async function check(domain: StoredDomain, by: Actor, signal?: AbortSignal): Promise<StoredDomain> {
    const { dnsServers, domainGraceHours } = config
    const checked = await checkDomain(domain, { sql, hosts, dnsServers, by, signal, graceMs: domainGraceHours * HOUR })
    changed(checked)
    return checked
  }

  return {
    async add({ state = 'pending', by = OPERATOR, envelopeName, ...domain }) {
      const added = await addDomain({ sql, makeKey }, { ...domain, state, by, envelopeName })
      changed(added)
      return shown(added)
    },
    list: async (accountId) => (await selectDomains(sql, accountId)).map(bare),
    async page(accountId, { status, name, ...page }) {
      const wanted = { ...page, states: statesOf(status), name: name === undefined ? undefined : domainName(name) }
      const { domains, total } = await selectDomainPage(sql, accountId, wanted)
      return { domains: await withRecords(domains), total }
    },
    show: async (name) => shown(await selectDomain(sql, parseDomain(name) ?? '')),
    async activate(name, by = OPERATOR) {
      const known = await selectDomain(sql, parseDomain(name) ?? '')
      if (!known) return shown(known)
      const active = await changeOwnDomain(sql, known, async (transaction, { id, accountId, state }) => {
        const change = { action: 'domain.activate', object: `domain ${known.name}`, before: { state } }
        await noteChange(transaction, { accountId, by, ...change, after: { state: 'active' } })
        await noteActivity(transaction, known, { before: state, after: 'active' })
        return activateDomain(transaction, id)
      })
      changed(active)
      return shown(active)
    },
    verify: async (accountId, name, by) => shown(await checkNow(await ownDomain(sql, accountId, name), by)),
    async remove(accountId, name, by) {
      const domain = await ownDomain(sql, accountId, name)
      await changeOwnDomain(sql, domain, async (transaction, { id, name, state, envelopeName }) => {
        await deleteDomain(transaction, id)
        const before = { state, envelopeName }
        await noteChange(transaction, { accountId, by, action: 'domain.delete', object: `domain ${name}`, before })
        await noteActivity(transaction, domain, { before: state, after: undefined })
      })
      changed(domain)
    },
    async rotateDkim(accountId, name, by) {
      const domain = await ownDomain(sql, accountId, name)
      await makeNextKey(domain, { sql, makeKey, by })
      return shown(domain)
    },
    async setDkimKey(accountId, { name, ...key }, by) {
      const domain = await ownDomain(sql, accountId, name)
      const warnings = await takeNextKey(domain, key, { sql, secrets, by })
      return { domain: await shown(domain), warnings }
    },
    async share(accountId, { name, shared }, by) {
      const domain = await ownDomain(sql, accountId, name)
      const after = await changeOwnDomain(sql, domain, async (transaction, before) => {
        if (before.shared === shared) return before
        const change = { object: `domain ${before.name}`, before: { shared: before.shared }, after: { shared } }
        await noteChange(transaction, { accountId, by, action: 'domain.share', ...change })
        return updateShared(transaction, before.id, shared)
      })
      changed(after)
      return shown(after)
    },
    async checkDue({ limit, signal }) {
      const due = await claimDueDomains(sql, limit)
      const left = [...due]
      const work = async (): Promise<void> => {
        for (let id = left.shift(); id !== undefined && !signal?.aborted; id = left.shift()) {
          const domain = await selectDomainById(sql, id)
          if (domain) await check(domain, OPERATOR, signal)
        }
      }
      await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, work))
      return due.length
    },
    findActive(accountId, name, parentId = null) {
      const found = byName.get(name)
      return found instanceof Promise
        ? found.then((domain) => usable(domain, accountId, parentId))
        : usable(found, accountId, parentId)
    },
    signer: (domainId) => signers.get(String(domainId)),
  }
}

const HOUR = 3_600_000

/** Without what was seen of its records: too much to keep for 50,000 domains. */
function bare({ records: _, ...domain }: StoredDomain): Domain {
  return domain
}

function usable(domain: UsableDomain | null, accountId: number, parentId: number | null): UsableDomain | null {
  if (domain?.state !== 'active') return null
  return domain.accountId === accountId || (domain.shared && domain.accountId === parentId) ? domain : null
}

function statesOf(status: string | undefined): DomainState[] | undefined {
  if (status === undefined) return undefined
  const states = STATUSES.get(status)
  if (!states) throw invalidParameter('status', `it must be one of: ${[...STATUSES.keys()].join(', ')}`)
  return [...states]
}

const STATUSES: ReadonlyMap<string, readonly DomainState[]> = new Map<string, readonly DomainState[]>([
  ['1', ['active']],
  ['0', ['pending', 'inactive', 'rejected']],
  ...(['pending', 'active', 'inactive', 'rejected'] as const).map((state) => [state, [state]] as const),
])

/** A CNAME needs the name of a host: where the API is reached by address or by a bare name, the service's own stands in. */
function serviceHosts({ returnPathHost, publicUrl, heloName }: DomainsDependencies['config']): ServiceHosts {
  const { hostname } = new URL(publicUrl)
  const named = hostname.includes('.') && isIP(hostname) === 0
  return { returnPath: returnPathHost, tracking: named ? hostname : heloName }
}

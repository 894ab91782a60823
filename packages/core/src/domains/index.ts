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
   * Claims a sending domain, with a DKIM key of its own; it is the account's once its records are right. Throws domainInvalid,
   * domainTaken, domainClaimsTooMany, parameterInvalid (envelopeName, account), rateLimited.
   */
  add(domain: NewSendingDomain): Promise<DomainWithRecords>
  /** All domains, or those of one account. */
  list(accountId?: number): Promise<Domain[]>
  /**
   * The account's domains by name, with what was seen of their records. `status`: a state, `1` active, `0` not active. Throws
   * parameterInvalid (status), domainInvalid (a name that is none).
   */
  page(accountId: number, page: DomainsPage): Promise<{ domains: DomainWithRecords[]; total: number }>
  /**
   * For the operator: the account's domain of this name, or, when no account is named, that of the account which has it, or the
   * only claim. Throws domainInvalid for an unknown domain; parameterInvalid (account) when several accounts claim it.
   */
  show(name: string, accountId?: number): Promise<DomainWithRecords>
  /** Lets such a domain send. Throws what {@link show} does; domainTaken while another account has the name. */
  activate(name: string, act?: { by?: Actor; accountId?: number | undefined }): Promise<DomainWithRecords>
  /** Looks the records up now: at most 10 s. */
  verify(accountId: number, name: string, by: Actor): Promise<DomainWithRecords>
  /** Mail that was accepted is still delivered and signed; the name is free for anybody. */
  remove(accountId: number, name: string, by: Actor): Promise<void>
  /** Makes the next DKIM key, which signs once its record was seen. Throws rateLimited. */
  rotateDkim(accountId: number, name: string, by: Actor): Promise<DomainWithRecords>
  /** Takes an own DKIM key (PEM) as the next one. Throws parameterInvalid (privateKey, selector). */
  setDkimKey(
    accountId: number,
    key: { name: string; privateKey: string; selector: string },
    by: Actor,
  ): Promise<{ domain: DomainWithRecords; warnings: string[] }>
  /** Lets the account's subaccounts send from the domain, or no more. */
  share(accountId: number, change: { name: string; shared: boolean }, by: Actor): Promise<DomainWithRecords>
  /**
   * Looks after the domains that are due, the longest due first; any number of workers may. Answers how many there were. Throws what
   * failed first, after the others: a domain that failed is due again in 10 minutes.
   */
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
  const keyMaker = createKeyMaker(secrets)
  /** An account's keys an hour are bounded, over all processes; the operator's are not. */
  const makeKeyFor =
    ({ keyId }: Actor): KeyMaker =>
    async (accountId, name) => {
      if (keyId !== null) requireAllowed(await rateLimits.take([newKeys(accountId)]))
      return keyMaker(accountId, name)
    }
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
  async function shown(domain: StoredDomain): Promise<DomainWithRecords> {
    const [shown] = await withRecords([domain])
    return shown as DomainWithRecords
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
    const checked = await checkDomain(domain, {
      sql,
      hosts,
      dnsServers,
      by,
      signal,
      graceMs: domainGraceHours * HOUR_MS,
    })
    changed(checked)
    return checked
  }

  return {
    async add({ state = 'pending', by = OPERATOR, envelopeName, ...domain }) {
      const added = await addDomain({ sql, makeKey: makeKeyFor(by) }, { ...domain, state, by, envelopeName })
      changed(added)
      return shown(added)
    },
    list: async (accountId) => (await selectDomains(sql, accountId)).map(bare),
    async page(accountId, { status, name, ...page }) {
      const wanted = { ...page, states: statesOf(status), name: name === undefined ? undefined : domainName(name) }
      const { domains, total } = await selectDomainPage(sql, accountId, wanted)
      return { domains: await withRecords(domains), total }
    },
    show: async (name, accountId) => shown(await namedDomain(sql, name, accountId)),
    async activate(name, { by = OPERATOR, accountId } = {}) {
      const active = await activateFor(sql, await namedDomain(sql, name, accountId), by)
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
      await makeNextKey(domain, { sql, makeKey: makeKeyFor(by), by })
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
      const failures: unknown[] = []
      const lookAfter = async (id: number): Promise<void> => {
        const domain = await selectDomainById(sql, id)
        if (domain) await endIfOver(sql, await check(domain, OPERATOR, signal))
      }
      const work = async (): Promise<void> => {
        for (let id = left.shift(); id !== undefined && !signal?.aborted; id = left.shift()) {
          await lookAfter(id).catch((error: unknown) => failures.push(error))
        }
      }
      await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, work))
      if (failures.length > 0) throw failures[0]
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

const HOUR_MS = 3_600_000
/** A key costs a fifth of a second of processor time. */
const KEYS_AN_HOUR = 100

function newKeys(accountId: number): Rate {
  return { name: `dkim keys ${accountId}`, what: 'new DKIM keys per hour', limit: KEYS_AN_HOUR, seconds: HOUR }
}

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
  if (!states) throw invalidParameter('status', `must be one of: ${[...STATUSES.keys()].join(', ')}`)
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

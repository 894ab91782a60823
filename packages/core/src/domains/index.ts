import type { Account } from '../accounts/account.ts'
import { type Actor, OPERATOR } from '../accounts/audit/index.ts'
import type { RateLimits } from '../accounts/rate-limits/index.ts'
import type { Config } from '../platform/config/config.ts'
import type { Sql } from '../platform/database/database.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import { addDomain, type NewSendingDomain } from './add-domain.ts'
import { checkDueDomains } from './checks/check-due.ts'
import { selectNameServers } from './checks/check-guard.ts'
import { createDomainChecker } from './checks/domain-checker.ts'
import { type DomainFinding, listFindings, noteFinding } from './checks/findings.ts'
import type { DkimSigner, Domain, DomainSigner, DomainState, DomainWithRecords, UsableDomain } from './domain.ts'
import { createDomainCache } from './domain-cache.ts'
import { withoutRecords, withRecords } from './domain-records.ts'
import type { GivenKey } from './keys/dkim-key.ts'
import { makeNextKey, takeNextKey } from './keys/dkim-rotation.ts'
import { setEd25519 } from './keys/ed25519-option.ts'
import { createLimitedKeyMaker } from './keys/limited-key-maker.ts'
import { createOperatorSigner } from './keys/operator-signer.ts'
import { activateFor, namedDomain } from './operator.ts'
import { ownDomain } from './own-domain.ts'
import { type DomainsPage, pageDomains } from './page-domains.ts'
import { type AsksReceivesMail, createReceivesMail } from './receives-mail.ts'
import { removeDomain } from './remove-domain.ts'
import { serviceHosts } from './service-hosts.ts'
import { shareDomain } from './share-domain.ts'
import { type StoredDomain, selectDomainById, selectDomains } from './store.ts'
import { createTrackingHosts, type IsTrackingHost } from './tracking-hosts.ts'
import { createTrialSender, type FindTrialSender } from './trial-sender.ts'

export type { DomainFinding } from './checks/findings.ts'
export type {
  DkimSigner,
  DnsRecord,
  Domain,
  DomainSigner,
  DomainState,
  DomainWithRecords,
  UsableDomain,
} from './domain.ts'
export type { DomainsPage } from './page-domains.ts'
export type { FindTrialSender, TrialSender } from './trial-sender.ts'

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
  /** Returns the account's domain with this number; undefined if it has none. */
  byId(accountId: number, id: number): Promise<DomainWithRecords | undefined>
  /** Hosts of the name servers of a domain's zone, as its last check found them; none before it. */
  nameServers(domainId: number): Promise<readonly string[]>
  /**
   * Activates the domain that {@link show} returns, and throws the same errors; also domainTaken if another account
   * owns the name.
   */
  activate(name: string, act?: { by?: Actor; accountId?: number | undefined }): Promise<DomainWithRecords>
  /** Looks up the records now; takes at most 10 s. */
  verify(accountId: number, name: string, by: Actor): Promise<DomainWithRecords>
  /** Whether any domain (A-label) takes mail. Takes at most 5 s; the result is at most a minute old. Throws overloaded. */
  receivesMail: AsksReceivesMail
  /** Deletes a domain. Accepted mail is still delivered and signed, and any account can add the name. */
  remove(accountId: number, name: string, by: Actor): Promise<void>
  /** Creates the next DKIM key of each algorithm, which signs as soon as its record exists. Throws rateLimited. */
  rotateDkim(accountId: number, name: string, by: Actor): Promise<DomainWithRecords>
  /** Sets the account's own DKIM key (PEM) as the next key of its algorithm; one of Ed25519 turns that on. Throws parameterInvalid (privateKey, selector). */
  setDkimKey(
    accountId: number,
    key: { name: string; privateKey: string; selector: string },
    by: Actor,
  ): Promise<{ domain: DomainWithRecords; warnings: string[] }>
  /**
   * Sets whether mail of the domain is signed with Ed25519, too: with a new key, once its record is found. Turning it off deletes the private key.
   * Throws rateLimited.
   */
  setEd25519(accountId: number, change: { name: string; ed25519: boolean }, by: Actor): Promise<DomainWithRecords>
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
  /**
   * Returns the active domain that this host (A-label) is below, by at most eight labels, if the account may send from it. The nearest domain
   * that any account owns decides: null if that is another's, or is not active, and if the name is itself a domain. At most 5 s old.
   */
  findAbove(accountId: number, name: string, parentId?: number | null): Promise<UsableDomain | null>
  /** Returns the domain that signs mail of this one: see {@link findActive}, and {@link findAbove} if the account's hosts may send. */
  findSender(account: SendingAccount, name: string): Promise<UsableDomain | null>
  /** The state of the account's own domain of this name (A-label), pending ones included; null if it has none. At most 5 s old. */
  stateOf(accountId: number, name: string): Promise<DomainState | null> | DomainState | null
  /** See tracking-hosts.ts. */
  readonly isTrackingHost: IsTrackingHost
  /** See trial-sender.ts. */
  readonly trialSender: FindTrialSender
  /** Records a provider's refusal that is about this sending domain. See findings.ts. */
  noteFinding(domainId: number, finding: Pick<DomainFinding, 'place' | 'code' | 'reply'>): Promise<void>
  /** Returns the findings of the last week, the latest first. */
  findings(domainId: number): Promise<DomainFinding[]>
  /** Returns the signer of this domain, also of a deleted one; null if it never existed. */
  signer(domainId: number): Promise<DomainSigner | null> | DomainSigner | null
  /** See operator-signer.ts. */
  operatorSigner(): Promise<DkimSigner | null> | DkimSigner | null
}

export type SendingAccount = Pick<Account, 'id' | 'parentId' | 'hostsMaySend'>

export interface DomainsDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly rateLimits: RateLimits
  readonly config: Pick<
    Config,
    | 'serviceDomain'
    | 'returnPathHost'
    | 'receivesReports'
    | 'operatorDkim'
    | 'publicUrl'
    | 'heloName'
    | 'dnsServers'
    | 'domainGraceHours'
  >
  readonly givenKey?: GivenKey | undefined
  /** Called after each check of a domain, with its id. */
  readonly onChecked: (domainId: number) => Promise<void>
}

const HOUR_MS = 3_600_000

export function createDomains({ sql, secrets, rateLimits, config, givenKey, onChecked }: DomainsDependencies): Domains {
  const hosts = serviceHosts(config)
  const cache = createDomainCache(sql, secrets)
  const makeKeyFor = createLimitedKeyMaker(secrets, rateLimits, givenKey)
  const checker = createDomainChecker({
    sql,
    hosts,
    dnsServers: config.dnsServers,
    graceMs: config.domainGraceHours * HOUR_MS,
    async onChecked(domain) {
      cache.invalidate(domain)
      await onChecked(domain.id)
    },
  })

  async function withDns(domain: StoredDomain): Promise<DomainWithRecords> {
    const [withDns] = await withRecords(sql, hosts, [domain])
    return withDns as DomainWithRecords
  }
  function changed(domain: StoredDomain): Promise<DomainWithRecords> {
    cache.invalidate(domain)
    return withDns(domain)
  }

  return {
    noteFinding: (domainId, finding) => noteFinding(sql, domainId, finding),
    findings: (domainId) => listFindings(sql, domainId),
    add: async ({ state = 'pending', by = OPERATOR, envelopeName, ed25519 = false, ...domain }) =>
      changed(await addDomain({ sql, makeKey: makeKeyFor(by) }, { ...domain, state, by, envelopeName, ed25519 })),
    list: async (accountId) => (await selectDomains(sql, accountId)).map(withoutRecords),
    page: (accountId, page) => pageDomains({ sql, hosts }, accountId, page),
    async byId(accountId, id) {
      const domain = await selectDomainById(sql, id)
      return domain?.accountId === accountId ? withDns(domain) : undefined
    },
    receivesMail: createReceivesMail(config.dnsServers),
    nameServers: (domainId) => selectNameServers(sql, domainId),
    show: async (name, accountId) => withDns(await namedDomain(sql, name, accountId)),
    activate: async (name, { by = OPERATOR, accountId } = {}) =>
      changed(await activateFor(sql, await namedDomain(sql, name, accountId), by)),
    verify: async (accountId, name, by) => withDns(await checker.checkNow(await ownDomain(sql, accountId, name), by)),
    remove: async (accountId, name, by) => cache.invalidate(await removeDomain(sql, accountId, name, by)),
    async rotateDkim(accountId, name, by) {
      const domain = await ownDomain(sql, accountId, name)
      await makeNextKey(domain, { sql, makeKey: makeKeyFor(by), by })
      return withDns(domain)
    },
    async setDkimKey(accountId, { name, ...key }, by) {
      const { domain, warnings } = await takeNextKey(await ownDomain(sql, accountId, name), key, { sql, secrets, by })
      return { domain: await withDns(domain), warnings }
    },
    async setEd25519(accountId, { name, ed25519 }, by) {
      const domain = await ownDomain(sql, accountId, name)
      return changed(await setEd25519(domain, ed25519, { sql, makeKey: makeKeyFor(by), by }))
    },
    share: async (accountId, change, by) => changed(await shareDomain(sql, accountId, change, by)),
    checkDue: (round) => checkDueDomains({ sql, checker }, round),
    findActive: (accountId, name, parentId = null) => cache.findActive(accountId, name, parentId),
    findAbove: (accountId, name, parentId = null) => cache.findAbove(accountId, name, parentId),
    findSender: async ({ id, parentId, hostsMaySend }, name) =>
      (await cache.findActive(id, name, parentId)) ?? (hostsMaySend ? cache.findAbove(id, name, parentId) : null),
    stateOf: (accountId, name) => cache.stateOf(accountId, name),
    isTrackingHost: createTrackingHosts(sql),
    trialSender: createTrialSender(cache, config.serviceDomain),
    signer: (domainId) => cache.signer(domainId),
    operatorSigner: createOperatorSigner(config, { sql, secrets }),
  }
}

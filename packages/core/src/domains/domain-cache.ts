import { createCache } from '../platform/cache.ts'
import { gather } from '../platform/concurrency/gather.ts'
import type { Sql } from '../platform/database/database.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import type { Domain, DomainSigner, DomainState, UsableDomain } from './domain.ts'
import { withoutRecords } from './domain-records.ts'
import { openSigner } from './keys/dkim-key.ts'
import { selectDkimKeys } from './keys/keys-store.ts'
import { ownTrackingHost } from './records.ts'
import { selectHolders, selectOwn } from './store.ts'

/** Milliseconds. As with keys, changes by the operator take effect everywhere within 5 s. */
const DOMAIN_AGE_MS = 3000
/** Milliseconds. Keys change only by rotation, and the old one stays valid, so a minute is acceptable. */
const SIGNER_AGE_MS = 60_000
/** Domains that are loaded by one statement. */
const MAX_LOADED = 100

/** The domains and signers that the submission and the delivery of messages look up. */
export interface DomainCache {
  findActive(
    accountId: number,
    name: string,
    parentId: number | null,
  ): Promise<UsableDomain | null> | UsableDomain | null
  /** See domains/index.ts. */
  findAbove(accountId: number, name: string, parentId: number | null): Promise<UsableDomain | null>
  /** The domain of this name that an account owns, whichever it is; null if there is none. */
  findHeld(name: string): Promise<UsableDomain | null> | UsableDomain | null
  /** The state of the account's own domain of this name; null if it has none. */
  stateOf(accountId: number, name: string): Promise<DomainState | null> | DomainState | null
  signer(domainId: number): Promise<DomainSigner | null> | DomainSigner | null
  invalidate(domain: Pick<Domain, 'id' | 'accountId' | 'name'>): void
}

export function createDomainCache(sql: Sql, secrets: Secrets): DomainCache {
  const select = gather((names: readonly string[]) => selectHolders(sql, names), MAX_LOADED)
  const byName = createCache<UsableDomain | null>({
    maxAge: DOMAIN_AGE_MS,
    maxEntries: 50_000,
    load: async (name) => {
      const domain = await select(name)
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
      const stored = await selectDkimKeys(sql, Number(id))
      return stored ? { ...openSigner(secrets, stored), returnPathHost: stored.returnPathHost } : null
    },
  })
  return {
    findActive(accountId, name, parentId) {
      const found = byName.get(name)
      return found instanceof Promise
        ? found.then((domain) => usable(domain, accountId, parentId))
        : usable(found, accountId, parentId)
    },
    async findAbove(accountId, name, parentId) {
      const held = await Promise.all(withNamesAbove(name).map((one) => byName.get(one)))
      const nearest = held.find((domain) => domain !== null)
      return nearest && nearest.name !== name ? usable(nearest, accountId, parentId) : null
    },
    findHeld: (name) => byName.get(name),
    stateOf: (accountId, name) => states.get(`${accountId} ${name}`),
    signer: (domainId) => signers.get(String(domainId)),
    invalidate({ id, accountId, name }) {
      byName.forget(name)
      states.forget(`${accountId} ${name}`)
      signers.forget(String(id))
    },
  }
}

/** Names above a host that are looked up: a long one must not cost more. */
const MAX_ABOVE = 8

/** The name and those above it, the nearest first. */
function withNamesAbove(name: string): string[] {
  const labels = name.split('.')
  return labels.slice(0, MAX_ABOVE + 1).map((_, at) => labels.slice(at).join('.'))
}

function usable(domain: UsableDomain | null, accountId: number, parentId: number | null): UsableDomain | null {
  if (domain?.state !== 'active') return null
  return domain.accountId === accountId || (domain.shared && domain.accountId === parentId) ? domain : null
}

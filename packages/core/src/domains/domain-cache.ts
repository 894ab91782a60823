import { createCache } from '../platform/cache.ts'
import { gather } from '../platform/concurrency/gather.ts'
import type { Sql } from '../platform/database/database.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import type { Domain, DomainSigner, DomainState, UsableDomain } from './domain.ts'
import { withoutRecords } from './domain-records.ts'
import { openDkimKey } from './keys/dkim-key.ts'
import { selectDkimKey } from './keys/keys-store.ts'
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
      const stored = await selectDkimKey(sql, Number(id))
      if (!stored) return null
      const { domain, selector, returnPathHost } = stored
      return { domain, selector, returnPathHost, privateKey: openDkimKey(secrets, stored) }
    },
  })
  return {
    findActive(accountId, name, parentId) {
      const found = byName.get(name)
      return found instanceof Promise
        ? found.then((domain) => usable(domain, accountId, parentId))
        : usable(found, accountId, parentId)
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

function usable(domain: UsableDomain | null, accountId: number, parentId: number | null): UsableDomain | null {
  if (domain?.state !== 'active') return null
  return domain.accountId === accountId || (domain.shared && domain.accountId === parentId) ? domain : null
}

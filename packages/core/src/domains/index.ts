import { createCache } from '../cache.ts'
import { databaseErrorCode, isUniqueViolation, type Sql } from '../database.ts'
import { invalidParameter, ServiceError } from '../errors.ts'
import { parseDomain } from '../recipients/address.ts'
import type { Secrets } from '../secrets.ts'
import { dkimRecordText, FIRST_SELECTOR, makeDkimKey, openDkimKey } from './dkim-key.ts'
import type { DkimSigner, DnsRecord, Domain, DomainState, DomainWithRecords } from './domain.ts'
import {
  insertDkimKey,
  insertDomain,
  type StoredDkimKey,
  selectDkimKey,
  selectDomain,
  selectDomains,
  updateDomainState,
} from './store.ts'

export type { DkimSigner, DnsRecord, Domain, DomainState, DomainWithRecords } from './domain.ts'

/** As with keys: what an operator changes holds everywhere within 5 s. */
const DOMAIN_AGE_MS = 3000
/** Keys change by rotation only, which keeps the old one valid; a minute is soon enough. */
const SIGNER_AGE_MS = 60_000

export interface Domains {
  /**
   * Adds a sending domain with a DKIM key of its own. Throws domainInvalid, domainTaken, parameterInvalid (account).
   */
  add(domain: { accountId: number; name: string; state?: DomainState }): Promise<DomainWithRecords>
  /** All domains, or those of one account. */
  list(accountId?: number): Promise<Domain[]>
  /** Throws domainInvalid for an unknown domain. */
  show(name: string): Promise<DomainWithRecords>
  /** Throws domainInvalid for an unknown domain. */
  activate(name: string): Promise<DomainWithRecords>
  /** The account's active domain of this name (A-label), or null. At most 5 s old. */
  findActive(accountId: number, name: string): Promise<Domain | null> | Domain | null
  /** What signs for this domain, or null when it is gone. */
  signer(domainId: number): Promise<DkimSigner | null> | DkimSigner | null
}

export interface DomainsDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  /** The service's own return path host, for the SPF record it asks for. */
  readonly returnPathHost: string
}

export function domainsOf({ sql, secrets, returnPathHost }: DomainsDependencies): Domains {
  const byName = createCache<Domain | null>({
    maxAge: DOMAIN_AGE_MS,
    maxEntries: 50_000,
    load: async (name) => (await selectDomain(sql, name)) ?? null,
  })
  const signers = createCache<DkimSigner | null>({
    maxAge: SIGNER_AGE_MS,
    maxEntries: 10_000,
    load: async (id) => {
      const stored = await selectDkimKey(sql, Number(id))
      if (!stored) return null
      return { domain: stored.domain, selector: stored.selector, privateKey: openDkimKey(secrets, stored) }
    },
  })

  async function withRecords(domain: Domain | undefined): Promise<DomainWithRecords> {
    if (!domain) throw new ServiceError('domainInvalid', { reason: 'unknown domain' })
    const key = await selectDkimKey(sql, domain.id)
    return { ...domain, dns: dnsRecords(domain.name, returnPathHost, key) }
  }

  return {
    async add({ accountId, name, state = 'pending' }) {
      const clean = parseDomain(name.trim())
      // A sending domain has at least two labels; nobody owns a bare top-level one.
      if (clean === undefined || !clean.includes('.')) throw new ServiceError('domainInvalid')
      const key = await makeDkimKey(secrets, clean)
      try {
        const domain = await sql.begin(async (transaction) => {
          const added = await insertDomain(transaction, accountId, clean, state)
          await insertDkimKey(transaction, { domainId: added.id, selector: FIRST_SELECTOR, ...key })
          return added
        })
        byName.forget(clean)
        return await withRecords(domain)
      } catch (error) {
        if (isUniqueViolation(error, 'domains_name')) throw new ServiceError('domainTaken')
        if (databaseErrorCode(error) === '23503') throw invalidParameter('account', 'there is no such account')
        throw error
      }
    },
    list: (accountId) => selectDomains(sql, accountId),
    show: async (name) => withRecords(await selectDomain(sql, parseDomain(name) ?? '')),
    async activate(name) {
      const domain = await updateDomainState(sql, parseDomain(name) ?? '', 'active')
      byName.forget(domain?.name)
      return withRecords(domain)
    },
    findActive(accountId, name) {
      const found = byName.get(name)
      return found instanceof Promise ? found.then((domain) => owned(domain, accountId)) : owned(found, accountId)
    },
    signer: (domainId) => signers.get(String(domainId)),
  }
}

function owned(domain: Domain | null, accountId: number): Domain | null {
  return domain && domain.accountId === accountId && domain.state === 'active' ? domain : null
}

function dnsRecords(domain: string, returnPathHost: string, key: StoredDkimKey | undefined): DnsRecord[] {
  const records: DnsRecord[] = [
    { type: 'TXT', host: domain, value: `v=spf1 include:${returnPathHost} ~all`, purpose: 'spf' },
    { type: 'TXT', host: `_dmarc.${domain}`, value: 'v=DMARC1; p=none', purpose: 'dmarc' },
  ]
  if (key) {
    const host = `${key.selector}._domainkey.${domain}`
    records.unshift({ type: 'TXT', host, value: dkimRecordText(key.publicKey), purpose: 'dkim' })
  }
  return records
}

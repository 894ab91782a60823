import type { Rate } from '../accounts/rate-limits/rate.ts'
import { createCache } from '../platform/cache.ts'
import { createSharedSlots } from '../platform/concurrency/shared-slots.ts'
import { type DnsAnswer, withDns } from '../platform/net/dns-lookup.ts'

/** Whether a domain takes mail: `unknown` if its name servers did not answer. */
export type ReceivesMail = 'yes' | 'no' | 'unknown'

/** Milliseconds for all queries about a domain. */
const DEADLINE_MS = 5000
/** Milliseconds that an answer is used. A list of addresses has few domains. */
const AGE_MS = 60_000
const MAX_DOMAINS = 5000

const CHECKS_PER_MINUTE = 600

export function addressChecks(accountId: number): Rate {
  return {
    name: `address checks ${accountId}`,
    what: 'address checks per minute',
    limit: CHECKS_PER_MINUTE,
    seconds: 60,
  }
}

/** Lookups at a time of a process, and of one account: each lasts as long as name servers are silent. */
const SLOTS = { total: 200, each: 20, what: 'lookups of recipient domains' } as const

/**
 * Returns whether hosts are published that take mail of a domain (A-label): MX, or the host itself (RFC 5321 5.1), and no null MX (RFC 7505). Throws
 * overloaded while an account has many lookups under way.
 */
export type AsksReceivesMail = (domain: string, accountId: number) => Promise<ReceivesMail>

export function createReceivesMail(servers: readonly string[]): AsksReceivesMail {
  const inSlot = createSharedSlots(SLOTS)
  const cache = createCache<ReceivesMail>({
    maxAge: AGE_MS,
    maxEntries: MAX_DOMAINS,
    load: (domain) =>
      withDns({ servers, deadlineMs: DEADLINE_MS }, async (query) => {
        const mx = await query('MX', domain)
        if (valuesOf(mx).length > 0) return valuesOf(mx).some((value) => !/^\d+ \.?$/.test(value)) ? 'yes' : 'no'
        const addresses = await Promise.all([query('A', domain), query('AAAA', domain)])
        if (addresses.some((answer) => valuesOf(answer).length > 0)) return 'yes'
        return [mx, ...addresses].every(({ kind }) => kind === 'records') ? 'no' : 'unknown'
      }),
  })
  return (domain, accountId) => inSlot(accountId, async () => cache.get(domain))
}

function valuesOf(answer: DnsAnswer): readonly string[] {
  return answer.kind === 'records' ? answer.values : []
}

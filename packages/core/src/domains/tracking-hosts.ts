import { createCache } from '../platform/cache.ts'
import { gather } from '../platform/concurrency/gather.ts'
import type { Sql } from '../platform/database/database.ts'
import { ownTrackingHost } from './records.ts'
import { selectHolders } from './store.ts'

/** Milliseconds that an answer is used, right or wrong. A proxy requests one for each handshake without a certificate. */
const AGE_MS = 30_000
/** Answers that are kept: names that anyone invents push out each other, and nothing else. */
const MAX_ANSWERS = 5000
/** Hosts of one statement. */
const MAX_LOADED = 20
/** RFC 1035 2.3.4. */
const MAX_HOST = 253
/** Labels of a host below its domain, at most. */
const MAX_BELOW = 8

/** Returns whether a host serves the tracked links of a domain: its record points here, and the domain was not deleted. */
export type IsTrackingHost = (host: string) => Promise<boolean> | boolean

/**
 * Domains that are inactive count, too: the links in mail that they have sent lead here. A host is looked up once in the index of names, with
 * all the names above it.
 */
export function createTrackingHosts(sql: Sql): IsTrackingHost {
  const load = gather(async (hosts: readonly string[]) => {
    const names = [...new Set(hosts.flatMap(namesAbove))]
    const holders = await selectHolders(sql, names)
    const known = new Set(holders.flatMap((domain) => (domain ? (ownTrackingHost(domain, domain.records) ?? []) : [])))
    return hosts.map((host) => known.has(host))
  }, MAX_LOADED)
  const answers = createCache<boolean>({ maxAge: AGE_MS, maxEntries: MAX_ANSWERS, load })
  return (host) => {
    const name = host.toLowerCase().replace(/\.$/, '')
    return isHost(name) && answers.get(name)
  }
}

function isHost(name: string): boolean {
  return name.length <= MAX_HOST && /^[a-z0-9_-]+(\.[a-z0-9_-]+){2,}$/.test(name)
}

/** The names above a host that may be its domain, down to two labels. */
function namesAbove(host: string): string[] {
  const labels = host.split('.')
  return labels.slice(1, MAX_BELOW + 1).flatMap((_, at) => {
    const above = labels.slice(at + 1)
    return above.length >= 2 ? [above.join('.')] : []
  })
}

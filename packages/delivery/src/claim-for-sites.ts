import type { Core } from '@postrider/core'
import type { Dispatcher } from './dispatcher.ts'

/** Maximum number of a site's domains in one claim. */
const DOMAINS = 500

interface SiteClaimOptions {
  readonly core: Core
  readonly workerId: number
  readonly dispatcher: Dispatcher
}

/** Claims the mail that was left in the database for sites without capacity and that they now have capacity for. Returns its number. */
export async function claimForSites({ core, workerId, dispatcher }: SiteClaimOptions): Promise<number> {
  let sum = 0
  for (const { site, capacity } of dispatcher.sitesWithCapacity()) {
    if (dispatcher.capacity < capacity) break
    const claimed = await core.deliveries.claim({
      workerId,
      limit: capacity,
      onlyDomains: mostRecent(site.domains),
    })
    // The database has no more mail for this site: from now on it is claimed with that of all sites.
    if (claimed.length < capacity) dispatcher.clearBacklog(site)
    if (claimed.length > 0) await dispatcher.take(claimed)
    sum += claimed.length
  }
  return sum
}

function mostRecent(domains: ReadonlySet<string>): string[] {
  return [...domains].slice(-DOMAINS)
}

import type { Core } from '@postrider/core'
import type { Dispatcher } from './dispatcher.ts'
import { flowKey } from './fair-queue.ts'

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
  const sites = Map.groupBy(dispatcher.sitesWithCapacity(), ({ backlogged }) => backlogged.site)
  for (const [site, found] of sites) {
    const shares = found.map(({ backlogged, limit }) => ({ ...backlogged.flow, limit }))
    const claimed = await core.deliveries.claim({ workerId, shares, onlyDomains: mostRecent(site.domains) })
    for (const { backlogged, limit } of found) {
      const key = flowKey(backlogged.flow)
      const own = claimed.reduce((count, delivery) => count + Number(flowKey(delivery) === key), 0)
      // The database has no more of this flow for this site: from now on it is claimed with that for all sites.
      if (own < limit) dispatcher.clearBacklog(backlogged)
    }
    if (claimed.length > 0) await dispatcher.take(claimed)
    sum += claimed.length
  }
  return sum
}

function mostRecent(domains: ReadonlySet<string>): string[] {
  return [...domains].slice(-DOMAINS)
}

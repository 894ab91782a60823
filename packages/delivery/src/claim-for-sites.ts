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
  for (const { backlogged, limit } of dispatcher.sitesWithCapacity()) {
    const { flow, site } = backlogged
    const claimed = await core.deliveries.claim({
      workerId,
      shares: [{ ...flow, limit }],
      onlyDomains: mostRecent(site.domains),
    })
    // The database has no more of this flow for this site: from now on it is claimed with that for all sites.
    if (claimed.length < limit) dispatcher.clearBacklog(backlogged)
    if (claimed.length > 0) await dispatcher.take(claimed)
    sum += claimed.length
  }
  return sum
}

function mostRecent(domains: ReadonlySet<string>): string[] {
  return [...domains].slice(-DOMAINS)
}

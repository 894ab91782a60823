import type { Check } from './check.ts'
import { bad, type CheckResult, ok, warn } from './check-result.ts'
import { findOwn } from './own-link.ts'
import type { Readings } from './readings.ts'

export const publicUrlCheck: Check = { area: 'network', name: 'public URL', run: checkPublicUrl }

async function checkPublicUrl(readings: Readings): Promise<CheckResult> {
  const { publicUrl, delivery } = readings.config
  const found = await findOwn(publicUrl, readings)
  if (!found.isOwn)
    return bad(
      `${publicUrl} does not lead to the API, as seen from this host: ${found.problem}; links, unsubscribe pages and the dashboard are there`,
      'start the API, have the reverse proxy forward this name to API_PORT, or set PUBLIC_URL to the right one',
    )
  return readings.env.PUBLIC_URL || delivery.kind === 'sandbox'
    ? ok(`${publicUrl} leads to the API`)
    : warn(
        `PUBLIC_URL is not set, so links in mail lead to ${publicUrl}`,
        'set PUBLIC_URL to the URL that recipients can reach',
      )
}

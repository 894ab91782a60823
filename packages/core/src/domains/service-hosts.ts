import { isIP } from 'node:net'
import type { Config } from '../platform/config/config.ts'
import type { ServiceHosts } from './records.ts'

/**
 * Hosts that records point to. A CNAME needs a host name: if PUBLIC_URL has an IP address or a name without a dot,
 * HELO_NAME is used.
 */
export function serviceHosts({
  returnPathHost,
  publicUrl,
  heloName,
  receivesReports,
}: Pick<Config, 'returnPathHost' | 'receivesReports' | 'publicUrl' | 'heloName'>): ServiceHosts {
  const { hostname } = new URL(publicUrl)
  const named = hostname.includes('.') && isIP(hostname) === 0
  const dmarcReports = receivesReports ? `dmarc@${returnPathHost}` : undefined
  return { returnPath: returnPathHost, tracking: named ? hostname : heloName, dmarcReports }
}

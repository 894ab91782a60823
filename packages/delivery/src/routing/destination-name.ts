import { createHash } from 'node:crypto'
import type { Providers } from '@postrider/core'

interface Host {
  readonly name: string
}

/** Length up to which the hosts of a site are its name; an index row has room for 2700 bytes. */
const MAX_LENGTH = 200

/**
 * Returns the name of the destination that limits apply to: the provider that has all of the hosts, otherwise the site itself. A domain that lists a
 * host of its own together with those of a provider would use the provider's connections for it.
 */
export function destinationName(
  { site, hosts }: { readonly site: string; readonly hosts: readonly Host[] },
  providers: Providers,
): string {
  const provider = providers.ofHost(hosts[0]?.name ?? '')
  if (provider && hosts.every(({ name }) => providers.ofHost(name) === provider)) return provider.name
  // A host may be called like a provider.
  if (providers.named(site)) return `${site}.`
  // An @ separates the name of a source address, a colon that of a smart host (sourcedPlace, smartHostPlace).
  const plain = site.replace(/[@:]/g, '?')
  if (plain.length <= MAX_LENGTH) return plain
  const digest = createHash('sha256').update(site).digest('hex').slice(0, 16)
  return `${plain.slice(0, MAX_LENGTH)}… ${digest}`
}

import { isIP } from 'node:net'

/** Where the inbox listens and by which other names it is asked. */
export interface Hosts {
  readonly sandboxHost: string
  readonly sandboxNames: readonly string[]
}

/**
 * Is the inbox the one that a request's Host field means?
 *
 * The inbox asks nobody for a password, so a page anywhere could read mail by giving its own name our address (DNS rebinding): the
 * browser then takes us for that page's server, and the name is all that tells. So only names that nobody else can give away are
 * served: those of loopback and those set. An address is no name that could be given away; one that is not loopback is served
 * where the inbox listens on all of them.
 */
export function isOurs(host: string | undefined, { sandboxHost, sandboxNames }: Hosts): boolean {
  const name = nameOf(host)
  if (name === undefined) return false
  if (name === 'localhost' || name.endsWith('.localhost')) return true
  if (name === sandboxHost.toLowerCase() || sandboxNames.includes(name)) return true
  if (isIP(name) === 0) return false
  return name === '::1' || name.startsWith('127.') || sandboxHost === '0.0.0.0' || sandboxHost === '::'
}

/** Without port and brackets, and without the final dot of a full name (RFC 9110 7.2). */
function nameOf(host = ''): string | undefined {
  const [, address, name] = /^(?:\[([0-9a-f:.]+)\]|([^:@/?#\s]+))(?::\d*)?$/i.exec(host) ?? []
  return address?.toLowerCase() ?? name?.toLowerCase().replace(/\.$/, '')
}

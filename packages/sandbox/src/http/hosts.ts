import { isIP } from 'node:net'

/** The address the inbox listens on, and its other host names. */
export interface Hosts {
  readonly sandboxHost: string
  readonly sandboxNames: readonly string[]
}

/**
 * Whether a request's Host header names this inbox.
 *
 * The inbox requires no password, so a web page could read mail by pointing its own host name at our address (DNS rebinding): the
 * browser then takes the inbox for the page's own server, and only the Host header reveals it. Therefore only names that no other
 * site can assign are accepted: those of loopback and the configured ones. IP addresses cannot be assigned; those other than loopback are accepted
 * if the inbox listens on all of them.
 */
export function isOurs(host: string | undefined, { sandboxHost, sandboxNames }: Hosts): boolean {
  const name = nameOf(host)
  if (name === undefined) return false
  if (name === 'localhost' || name.endsWith('.localhost')) return true
  if (name === sandboxHost.toLowerCase() || sandboxNames.includes(name)) return true
  if (isIP(name) === 0) return false
  return name === '::1' || name.startsWith('127.') || sandboxHost === '0.0.0.0' || sandboxHost === '::'
}

/** The host without port and brackets, and without the final dot of a fully qualified name (RFC 9110 7.2). */
function nameOf(host = ''): string | undefined {
  const [, address, name] = /^(?:\[([0-9a-f:.]+)\]|([^:@/?#\s]+))(?::\d*)?$/i.exec(host) ?? []
  return address?.toLowerCase() ?? name?.toLowerCase().replace(/\.$/, '')
}

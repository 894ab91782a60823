import { isHostName } from '../../platform/net/host-name.ts'

/** Maximum length of a tracked URL in characters. Its token is a third longer and must fit into a request line. */
const MAX_LENGTH = 4096

/**
 * Returns the URL to be encrypted: as the sender wrote it if that is valid in a Location field, otherwise escaped. Returns
 * undefined for a URL that is not tracked: one with another scheme, relative, malformed, without a valid host name or too long.
 */
export function trackableUrl(written: string): string | undefined {
  if (written.length > 2 * MAX_LENGTH) return undefined
  // As browsers do, ignores surrounding blanks and line ends within the URL (WHATWG URL 4.4).
  const url = written.trim().replace(/[\t\r\n]/g, '')
  // The parser looks for the host behind any number of slashes; the redirect of a click does not.
  const parsed = /^https?:\/\/[^/\\?#]/i.test(url) ? URL.parse(url) : null
  if (parsed === null) return undefined
  const { hostname } = parsed
  if (!hostname.startsWith('[') && !isHostName(hostname.endsWith('.') ? hostname.slice(0, -1) : hostname))
    return undefined
  const plain = /^[\x21-\x7e]+$/.test(url) ? url : parsed.href
  return plain.length > MAX_LENGTH ? undefined : plain
}

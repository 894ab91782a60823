import { isIP } from 'node:net'
import { parseDomain } from '../../../mime/address.ts'
import { plainAddress } from '../../../platform/net/networks.ts'
import { malformed } from './limits.ts'

/** Characters of a name or id that are kept. */
const MAX_TEXT = 200
const MAX_COUNT = 1_000_000_000

/** Returns a text without characters that are invisible or harmful in a database or terminal. */
export function plainText(text: string): string {
  return text
    .slice(0, MAX_TEXT)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
}

/** Returns a domain in lower case as A-labels; undefined if the text is not a domain. */
export function domainIn(text: string): string | undefined {
  const name = text.trim().replace(/\.$/, '')
  return name.length > MAX_TEXT * 5 ? undefined : parseDomain(name)
}

/** The domain of an address that may be written as `mailto:` or with a name; empty if it has none. */
export function emailDomainIn(text: string): string {
  const host = /@([^\s@<>,;]{1,255})>?\s*$/.exec(text.slice(-MAX_TEXT * 2))?.[1] ?? ''
  return domainIn(host) ?? ''
}

/** Returns an address in its shortest form (RFC 5952); null if the text is not an address. */
export function addressIn(text: string): string | null {
  const address = plainAddress(text.trim())
  const family = isIP(address)
  if (family === 6) return new URL(`http://[${address}]`).hostname.slice(1, -1)
  return family === 4 ? address : null
}

/** Throws UnreadableReport unless the value is a count of messages or sessions. */
export function countIn(value: unknown): number {
  const count = typeof value === 'number' ? value : /^\d{1,10}$/.test(String(value)) ? Number(value) : Number.NaN
  if (Number.isInteger(count) && count >= 0 && count <= MAX_COUNT) return count
  throw malformed('a count is not a whole number from 0 to 1,000,000,000')
}

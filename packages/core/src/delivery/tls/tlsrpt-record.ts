/** Addresses of a record that get a report, and the length of one. */
const MAX_ADDRESSES = 3
const MAX_LENGTH = 500

/**
 * Returns the addresses of a domain's TXT records `_smtp._tls` (RFC 8460 3): `mailto:` and `https:` URIs. Empty if there is no record, or more
 * than one.
 */
export function parseTlsRpt(texts: readonly string[]): string[] {
  const own = texts.filter((text) => /^v=TLSRPTv1\s*;/.test(text))
  const [text] = own
  if (text === undefined || own.length > 1) return []
  const rua = text
    .split(';')
    .map((field) => field.trim())
    .find((field) => field.startsWith('rua='))
  if (rua === undefined) return []
  return rua
    .slice('rua='.length)
    .split(',')
    .map((uri) => uri.trim())
    .filter((uri) => uri.length <= MAX_LENGTH && /^(?:mailto:[^\s@?]+@[^\s@?]+|https:\/\/[^\s]+)$/i.test(uri))
    .slice(0, MAX_ADDRESSES)
}

import libmime from 'libmime'

/** Decodes RFC 2047 encoded words where there are any. */
export function decodeWords(value: string): string {
  return value.includes('=?') ? libmime.decodeWords(value) : value
}

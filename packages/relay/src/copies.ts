/**
 * Octets that all recipients of a message may have of their own together: half a megabyte of header is ten gigabytes when ten
 * thousand get it each. Writing so much down takes some 80 ms, during which nobody else is answered.
 */
export const MOST_COPIED = 16 * 1024 * 1024
/** What an entry takes besides its octets, in time as in memory. */
export const ENTRY = 96

/** What one copy has of it. */
export function sizeOf(entries: Iterable<readonly [key: string, value: string]>): number {
  let octets = 0
  for (const [key, value] of entries) octets += Buffer.byteLength(key) + Buffer.byteLength(value) + ENTRY
  return octets
}

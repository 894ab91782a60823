/**
 * Maximum bytes of per-recipient data of one message in total: half a megabyte of header for each of ten thousand recipients is
 * gigabytes. Storing this much blocks other requests for some 80 ms.
 */
export const MAX_COPIED_BYTES = 16 * 1024 * 1024
/** Overhead of an entry besides its bytes, in time as well as in memory. */
export const ENTRY = 96

/** Bytes of the entries in one copy. */
export function sizeOf(entries: Iterable<readonly [key: string, value: string]>): number {
  let octets = 0
  for (const [key, value] of entries) octets += Buffer.byteLength(key) + Buffer.byteLength(value) + ENTRY
  return octets
}

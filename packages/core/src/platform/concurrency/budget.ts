import { Tally } from './tally.ts'

/**
 * Limits the bytes of message bodies that a process holds in memory. The caller reserves before it holds a body; if the
 * budget is used up, it rejects the request (503, 452) instead of running out of memory (P7).
 *
 * A part of the budget is reserved for accounts that hold little. The size of a body is reserved before it is
 * transferred. Without that part, an account that announces large bodies and sends them slowly, or never, would cause
 * everyone else's mail to be rejected.
 */
export interface ByteBudget {
  /** Reserves the bytes, or returns false. `holder` is the account; without one, the whole budget is available. */
  take(octets: number, holder?: number): boolean
  /** Whether `take` would succeed. */
  fits(octets: number, holder?: number): boolean
  /** Releases the bytes. Must be called with the same holder as `take`. */
  give(octets: number, holder?: number): void
  readonly used: number
  readonly total: number
  /** Maximum for one holder: the total without the part reserved for accounts that hold little. */
  readonly most: number
}

/** Fraction of the total that is reserved for small holders. */
const RESERVED_FRACTION = 1 / 8
/** Largest fraction of the total that a small holder holds. */
const SMALL_HOLDER_FRACTION = 1 / 64
/** Size of the largest message, which must always fit: if the total is small, less is reserved, or nothing. */
const MAX_MESSAGE_SIZE = 32 * 1024 * 1024

export function createByteBudget(total: number): ByteBudget {
  let used = 0
  const held = new Tally<number>()
  const most = total - Math.min(Math.ceil(total * RESERVED_FRACTION), Math.max(0, total - MAX_MESSAGE_SIZE))
  const isSmall = (octets: number, holder: number): boolean => held.of(holder) + octets <= total * SMALL_HOLDER_FRACTION
  const fits = (octets: number, holder?: number): boolean =>
    used + octets <= (holder === undefined || isSmall(octets, holder) ? total : most)
  return {
    take(octets, holder) {
      if (!fits(octets, holder)) return false
      if (holder !== undefined) held.add(holder, octets)
      used += octets
      return true
    },
    fits,
    give(octets, holder) {
      used -= octets
      if (holder !== undefined) held.add(holder, -octets)
    },
    get used() {
      return used
    },
    total,
    most,
  }
}

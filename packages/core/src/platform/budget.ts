/**
 * Octets of message bodies a process holds at once. Whoever is about to hold a body reserves first; when nothing is left the
 * caller refuses (503, 452) instead of running out of memory (P7).
 *
 * A share of it is kept for accounts that hold little: a body takes its room before it comes, so one account that announces
 * much and sends it slowly, or not at all, would else have everybody's mail refused.
 */
export interface ByteBudget {
  /** Reserves, or answers false. `holder`: the account it is for; without one nothing is kept for others. */
  take(octets: number, holder?: number): boolean
  /** Would `take` reserve so much? */
  fits(octets: number, holder?: number): boolean
  /** To be called with the holder that took them. */
  give(octets: number, holder?: number): void
  readonly used: number
  readonly total: number
  /** What one holder may have: all of it but what is kept for those who hold little. */
  readonly most: number
}

/** Of the whole: what is kept, and what a holder may have to count as one that holds little. */
const KEPT = 1 / 8
const LITTLE = 1 / 64
/** The largest message has room, however small the whole: then less is kept, or nothing. */
const LARGEST = 32 * 1024 * 1024

export function createByteBudget(total: number): ByteBudget {
  let used = 0
  const held = new Map<number, number>()
  const most = total - Math.min(Math.ceil(total * KEPT), Math.max(0, total - LARGEST))
  const own = (octets: number, holder: number): number => (held.get(holder) ?? 0) + octets
  const fits = (octets: number, holder?: number): boolean =>
    used + octets <= (holder === undefined || own(octets, holder) <= total * LITTLE ? total : most)
  return {
    take(octets, holder) {
      if (!fits(octets, holder)) return false
      if (holder !== undefined) held.set(holder, own(octets, holder))
      used += octets
      return true
    },
    fits,
    give(octets, holder) {
      used -= octets
      if (holder === undefined) return
      const left = own(-octets, holder)
      if (left > 0) held.set(holder, left)
      else held.delete(holder)
    },
    get used() {
      return used
    },
    total,
    most,
  }
}

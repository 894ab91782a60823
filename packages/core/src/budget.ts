/**
 * Octets of message bodies a process holds at once. Whoever is about to hold a body reserves first; when nothing is left the
 * caller refuses (503, 452) instead of running out of memory (P7).
 */
export interface ByteBudget {
  /** Reserves, or answers false. */
  take(octets: number): boolean
  give(octets: number): void
  readonly used: number
  readonly total: number
}

export function createByteBudget(total: number): ByteBudget {
  let used = 0
  return {
    take(octets) {
      if (used + octets > total) return false
      used += octets
      return true
    },
    give(octets) {
      used -= octets
    },
    get used() {
      return used
    },
    total,
  }
}

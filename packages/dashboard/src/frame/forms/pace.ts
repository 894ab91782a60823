/** Requests that one may make per minute. Counted by this process alone, in memory, because it protects the process. */
export interface Pace {
  /** Counts a request. Returns the seconds to wait; 0 if it is within the limit. */
  take(who: string): number
}

const MINUTE_MS = 60_000
/** Beyond this number of names, further ones are not counted. Their addresses are. */
const MAX_NAMES = 50_000

export function createPace(perMinute: number, now: () => number = () => performance.now()): Pace {
  const counts = new Map<string, number>()
  let ends = 0
  return {
    take(who) {
      const at = now()
      if (at >= ends) {
        counts.clear()
        ends = at + MINUTE_MS
      }
      const count = (counts.get(who) ?? 0) + 1
      if (count > 1 || counts.size < MAX_NAMES) counts.set(who, count)
      return count > perMinute ? Math.ceil((ends - at) / 1000) : 0
    },
  }
}

/**
 * Requests per minute of a session: an open page refreshes itself every 0.7 s at most, so ten of them in sight that always change make 857. And of
 * an address (IPv4, or the /64 of an IPv6 address), which an office may share.
 */
export const PER_SESSION = 1200
export const PER_NETWORK = 6000

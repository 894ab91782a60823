import type { Hit } from './hit.ts'

/**
 * Hits of one delivery that a process stores in a minute, separately for opens and clicks and for those that a rule takes for a machine's. An hour
 * has at most 50 events of each (classify-hits.ts), so what is beyond counts for nothing, but would be written, compared and deleted.
 */
const MAX_PER_MINUTE = 100
const MINUTE_MS = 60_000
/** Beyond these, counting begins again: only then may one of them have more than its number. */
const MAX_COUNTED = 50_000

type Counted = Pick<Hit, 'messageId' | 'recipientNo' | 'kind' | 'machine'>

/** Returns a function that counts a hit, and returns whether it is to be stored. */
export function createHitLimit(now: () => number = () => performance.now()): (hit: Counted) => boolean {
  const counts = new Map<string, number>()
  let since = now()
  return ({ messageId, recipientNo, kind, machine }) => {
    if (now() >= since + MINUTE_MS || counts.size >= MAX_COUNTED) {
      counts.clear()
      since = now()
    }
    const key = `${messageId} ${recipientNo} ${kind} ${machine === null}`
    const count = counts.get(key) ?? 0
    if (count >= MAX_PER_MINUTE) return false
    counts.set(key, count + 1)
    return true
  }
}

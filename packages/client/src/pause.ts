/** The longest delay of a timer in milliseconds; a longer one would end at once. */
const MAX_DELAY = 2_147_483_647

/** A delay that timers take: `Infinity` is 24 days. */
export function timerDelay(milliseconds: number): number {
  return milliseconds > 0 ? Math.min(milliseconds, MAX_DELAY) : 0
}

/** Resolves after the delay, or when the signal is aborted. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, timerDelay(milliseconds))
    signal?.addEventListener('abort', end)
  })
}

/** The longest delay of a timer, 24.8 days. Node waits a millisecond instead of a longer one, and warns. */
const MAX_DELAY_MS = 2 ** 31 - 1

/**
 * Returns the milliseconds to give to a timer for a computed delay: 0 if that is over or not a number, and never more than a timer can
 * wait. Without it, a time that passes between its comparison and the timer is a TimeoutNegativeWarning in the log; AbortSignal.timeout
 * throws for a fraction.
 */
export function timerDelay(milliseconds: number): number {
  return milliseconds > 0 ? Math.trunc(Math.min(milliseconds, MAX_DELAY_MS)) : 0
}

/** Resolves after this time. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, timerDelay(milliseconds)))
}

/** Resolves as the promise does, or with undefined after this time; what it does later has no receiver. */
export function within<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, timerDelay(milliseconds), undefined)
  promise.catch(() => {})
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/**
 * Returns a function that calls `read`, one call at a time: what is there when it is called has been read when it resolves. Calls that
 * arrive while one is in progress share the next one. `read` must not throw.
 */
export function createRefresher(read: () => Promise<void>): () => Promise<void> {
  let reading: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  return () => {
    next ??= reading.then(() => {
      next = undefined
      reading = read()
      return reading
    })
    return next
  }
}

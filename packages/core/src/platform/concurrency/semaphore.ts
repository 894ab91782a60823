import { ServiceError } from '../errors.ts'

/** Semaphore with a bounded queue, which leaves the pool to the API if there are too many readers. */
export interface Semaphore {
  /** Runs `fn` when a slot is free. Throws `overloaded` if the queue is full, and whatever `fn` throws. */
  take<T>(fn: () => Promise<T>): Promise<T>
}

export function createSemaphore({ atOnce, waiting }: { atOnce: number; waiting: number }): Semaphore {
  const queue: (() => void)[] = []
  let running = 0
  return {
    async take(fn) {
      if (running >= atOnce) {
        if (queue.length >= waiting) throw new ServiceError('overloaded', { reason: 'too many readers at once' })
        // The finishing task passes its slot to the next one, so `running` is unchanged.
        await new Promise<void>((resolve) => queue.push(resolve))
      } else running++
      try {
        return await fn()
      } finally {
        const next = queue.shift()
        if (next) next()
        else running--
      }
    },
  }
}

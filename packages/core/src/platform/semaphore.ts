import { ServiceError } from './errors.ts'

/** Lets so many act at once and so many wait; whoever comes then is refused. So a flood of readers leaves the pool to the API. */
export interface Turns {
  /** Throws overloaded, and what `act` throws. */
  take<T>(act: () => Promise<T>): Promise<T>
}

export function createTurns({ atOnce, waiting }: { atOnce: number; waiting: number }): Turns {
  const queue: (() => void)[] = []
  let running = 0
  return {
    async take(act) {
      if (running >= atOnce) {
        if (queue.length >= waiting) throw new ServiceError('overloaded', { reason: 'too many readers at once' })
        // Whoever leaves hands his place on, so `running` stays.
        await new Promise<void>((resolve) => queue.push(resolve))
      } else running++
      try {
        return await act()
      } finally {
        const next = queue.shift()
        if (next) next()
        else running--
      }
    },
  }
}

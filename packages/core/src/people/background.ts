import { createFairTurns } from '../platform/concurrency/fair-turns.ts'

/** Work that goes on after its answer, so that the time of the answer does not show what there was to do. */
export interface Background {
  /** Starts the work. Throws overloaded if too much is waiting. */
  run(work: () => Promise<unknown>): void
  /** Waits for all that was started. */
  settled(): Promise<void>
}

const MAX_WAITING = 100

export function createBackground(onError: (error: unknown) => void): Background {
  const turns = createFairTurns({ capacity: 2, waiting: MAX_WAITING, each: MAX_WAITING })
  const running = new Set<Promise<unknown>>()
  return {
    run(work) {
      const done: Promise<unknown> = turns
        .take('background', work)
        .catch(onError)
        .finally(() => running.delete(done))
      running.add(done)
    },
    async settled() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

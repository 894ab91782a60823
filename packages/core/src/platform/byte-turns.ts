import { ServiceError } from './errors.ts'

/** Lets tasks run while their bytes together are within a limit; others wait in order. A task larger than the limit runs alone. */
export interface ByteTurns {
  /** Throws `overloaded` if it is not the turn of `fn` within that many milliseconds, and whatever `fn` throws. */
  take<T>(octets: number, patienceMs: number, fn: () => Promise<T>): Promise<T>
}

interface Waiting {
  readonly octets: number
  readonly enter: () => void
}

export function createByteTurns(limit: number): ByteTurns {
  const queue: Waiting[] = []
  let used = 0
  const fits = (octets: number) => used === 0 || used + octets <= limit

  function enterNext(): void {
    for (let next = queue[0]; next && fits(next.octets); next = queue[0]) {
      queue.shift()
      used += next.octets
      next.enter()
    }
  }

  function turn(octets: number, patienceMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        octets,
        enter: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiting), 1)
        reject(new ServiceError('overloaded', { reason: 'too many bodies on their way to object storage' }))
        enterNext()
      }, patienceMs)
      queue.push(waiting)
    })
  }

  return {
    async take(octets, patienceMs, fn) {
      if (queue.length === 0 && fits(octets)) used += octets
      else await turn(octets, patienceMs)
      try {
        return await fn()
      } finally {
        used -= octets
        enterNext()
      }
    },
  }
}

import { ServiceError } from '../errors.ts'
import { Rotation } from './rotation.ts'
import { timerDelay } from './timer-delay.ts'

/** Turns at scarce work. Those who wait are served in rotation, so that many requests of one delay those of others by one turn. */
export interface FairTurns {
  /**
   * Runs `fn` in a turn of `who`. Throws overloaded if too many are waiting, in all or of this one, or if its turn does not come in time, and
   * whatever `fn` throws.
   */
  take<T>(who: string, fn: () => Promise<T>, options?: TurnOptions): Promise<T>
}

export interface TurnOptions {
  /** Part of the capacity that the turn takes; default 1. One larger than the capacity runs alone. */
  readonly size?: number
  /** Milliseconds to wait for the turn; by default without limit. */
  readonly patienceMs?: number
}

interface Waiting {
  readonly size: number
  readonly enter: () => void
}

/** `capacity`: the sizes of all turns at a time; `waiting`, `each`: requests that wait, in all and of one. */
export function createFairTurns({
  capacity,
  waiting: most,
  each,
}: {
  readonly capacity: number
  readonly waiting: number
  readonly each: number
}): FairTurns {
  const queue = new Rotation<Waiting>()
  let used = 0
  const fits = (size: number) => used === 0 || used + size <= capacity

  function wait(who: string, size: number, patienceMs: number | undefined): Promise<void> {
    if (queue.size >= most || queue.countOf(who) >= each) throw overloaded()
    return new Promise((resolve, reject) => {
      const turn: Waiting = {
        size,
        enter: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      const giveUp = (): void => {
        queue.remove(who, turn)
        reject(overloaded())
        enterNext()
      }
      const timer = patienceMs === undefined ? undefined : setTimeout(giveUp, timerDelay(patienceMs))
      queue.push(who, turn)
    })
  }

  /** The next turn is not passed over, however large it is. */
  function enterNext(): void {
    for (let { first } = queue; first && fits(first.size); { first } = queue) {
      queue.shift()
      used += first.size
      first.enter()
    }
  }

  return {
    async take(who, fn, { size = 1, patienceMs } = {}) {
      if (queue.size === 0 && fits(size)) used += size
      else await wait(who, size, patienceMs)
      try {
        return await fn()
      } finally {
        used -= size
        enterNext()
      }
    },
  }
}

function overloaded(): ServiceError {
  return new ServiceError('overloaded', { reason: 'too many are waiting' })
}

import { isDatabaseTrouble, timerDelay } from '@postrider/core'
import { logTrouble, type Troubled } from '../common/log-trouble.ts'

export interface LoopOptions extends Troubled {
  /** Name in log messages: "the NAME loop". */
  readonly name: string
  /** Runs one round. Returns whether there may be more work. */
  readonly act: (signal: AbortSignal) => Promise<boolean>
  /** Milliseconds between rounds when there was no more work. */
  readonly every: number
  /** Milliseconds between rounds when there is more work; sending mail has priority. */
  readonly breath: number
  /** Milliseconds before the first round; default 0. */
  readonly after?: number
}

export interface Loop {
  /** Starts the next round immediately. */
  wake(): void
  /** Starts no further round; resolves when the current one has ended. */
  stop(): Promise<void>
}

/** Runs background work in rounds; any number of workers may do so concurrently. A failed round is logged and repeated. */
export function runLoop({ name, readiness, log, act, every, breath, after = 0 }: LoopOptions): Loop {
  const stopping = new AbortController()
  const { signal } = stopping
  let woken = false
  let wakeUp: () => void = () => {}

  async function rounds(): Promise<void> {
    if (after > 0) await pause(after)
    while (!signal.aborted) await pause((await round()) ? breath : every)
  }

  async function round(): Promise<boolean> {
    woken = false
    try {
      return await act(signal)
    } catch (err) {
      if (signal.aborted) return false
      if (isDatabaseTrouble(err)) logTrouble({ readiness, log }, err, `the ${name} loop is waiting for the database`)
      else log.error({ err }, `the ${name} loop failed`)
      return false
    }
  }

  function pause(milliseconds: number): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timerDelay(woken ? breath : milliseconds))
      wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  const finished = rounds()
  return {
    wake() {
      woken = true
      wakeUp()
    },
    async stop() {
      stopping.abort()
      wakeUp()
      await finished
    },
  }
}

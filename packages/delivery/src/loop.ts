import { isDatabaseTrouble, type Log } from '@postrider/core'

export interface LoopOptions {
  /** As the log names it: "the NAME loop". */
  readonly name: string
  readonly log: Log
  /** One round. Answers whether there may be more to do at once. */
  readonly act: (signal: AbortSignal) => Promise<boolean>
  /** Milliseconds between rounds when there was nothing more to do. */
  readonly every: number
  /** Milliseconds between rounds when there is: mail goes first. */
  readonly breath: number
}

export interface Loop {
  /** The next round comes at once. */
  wake(): void
  /** Begins no further round; resolves when the running one has ended. */
  stop(): Promise<void>
}

/** Background work, a round at a time, beside any number of other workers. A round that fails is told and tried again. */
export function runLoop({ name, log, act, every, breath }: LoopOptions): Loop {
  const stopping = new AbortController()
  const { signal } = stopping
  let woken = false
  let wakeUp: () => void = () => {}

  async function rounds(): Promise<void> {
    while (!signal.aborted) await pause((await round()) ? breath : every)
  }

  async function round(): Promise<boolean> {
    woken = false
    try {
      return await act(signal)
    } catch (err) {
      if (signal.aborted) return false
      if (isDatabaseTrouble(err)) log.warn({ err }, `the ${name} loop waits for the database`)
      else log.error({ err }, `the ${name} loop failed`)
      return false
    }
  }

  function pause(milliseconds: number): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, woken ? breath : milliseconds)
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

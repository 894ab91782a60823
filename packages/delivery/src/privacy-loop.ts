import { type Core, isDatabaseTrouble, type Log } from '@postrider/core'

/** Milliseconds between looks for requests to forget somebody. */
const LOOK_EVERY = 1000
/** Milliseconds between batches: mail goes first. */
const BREATH = 5

/** Works on requests to forget people, a batch at a time, beside any number of other workers. */
export function runPrivacyLoop({ core, log }: { core: Core; log: Log }): { stop(): Promise<void> } {
  let stopped = false
  let wakeUp: () => void = () => {}

  async function loop(): Promise<void> {
    while (!stopped) await pause((await forgetSome()) ? BREATH : LOOK_EVERY)
  }

  async function forgetSome(): Promise<boolean> {
    try {
      return await core.privacy.forgetSome()
    } catch (err) {
      if (isDatabaseTrouble(err)) log.warn({ err }, 'a request to forget waits for the database')
      else log.error({ err }, 'a request to forget failed')
      return false
    }
  }

  function pause(milliseconds: number): Promise<void> {
    if (stopped) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  const finished = loop()
  return {
    async stop() {
      stopped = true
      wakeUp()
      await finished
    },
  }
}

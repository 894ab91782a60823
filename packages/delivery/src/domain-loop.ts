import { type Core, isDatabaseAway, type Log } from '@postrider/core'

/** Milliseconds between rounds with nothing more to do. */
const LOOK_EVERY = 15_000
/** Domains of one round. */
const LIMIT = 20

/** Looks after sending domains whose records are due. Workers share the work; one that stops leaves its part to the others. */
export function runDomainLoop({ core, log }: { core: Core; log: Log }): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  let wake = (): void => {}

  async function rounds(): Promise<void> {
    while (!signal.aborted) {
      const count = await core.domains.checkDue({ limit: LIMIT, signal }).catch((err: unknown) => {
        if (!signal.aborted && !isDatabaseAway(err)) log.error({ err }, 'domain loop failed')
        return 0
      })
      if (count === LIMIT || signal.aborted) continue
      await new Promise<void>((resolve) => {
        wake = resolve
        setTimeout(resolve, LOOK_EVERY).unref()
      })
    }
  }
  const running = rounds()

  return {
    async stop() {
      stopping.abort()
      wake()
      await running
    },
  }
}

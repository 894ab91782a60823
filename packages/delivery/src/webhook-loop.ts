import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/**
 * Requests of one worker at a time: a receiver that answers late has one of them, so that only as many such receivers could
 * delay others. Each is a socket and a batch.
 */
const SLOTS = 200
/** Milliseconds between looks at who has new events: at least, and at most without being told that there are. */
const LOOK_LEAST = 250
const LOOK_MOST = 5000

/** Tells webhooks of events: whatever is due, as far as slots are free. What is under way at the end ends first. */
export function runWebhookLoop({ core, log }: { core: Core; log: Log }): Loop {
  const running = new Set<Promise<void>>()
  const cut = new AbortController()
  let told = true
  let looked = -LOOK_MOST

  /** Asks about every webhook, so not after each request that ends. */
  async function look(): Promise<void> {
    const since = performance.now() - looked
    if (since < LOOK_LEAST || (!told && since < LOOK_MOST)) return
    told = false
    looked = performance.now()
    await core.webhooks.notice()
  }

  async function deliver(batch: NonNullable<Awaited<ReturnType<Core['webhooks']['claim']>>>[number]): Promise<void> {
    const { webhookId, accountId } = batch
    try {
      const finished = await core.webhooks.deliver(batch, cut.signal)
      if (finished === 'disabled') log.warn({ webhookId, accountId }, 'a webhook was disabled: its url does not answer')
      if (finished === 'dead') log.warn({ webhookId, accountId }, 'a batch of a webhook was given up')
    } catch (err) {
      // Its lease ends by itself, and it is sent again.
      log.warn({ err, webhookId }, 'what became of a batch could not be noted')
    }
  }

  const loop = runLoop({
    name: 'webhook',
    log,
    async act(signal) {
      await look()
      while (!signal.aborted && running.size < SLOTS) {
        const batches = await core.webhooks.claim(SLOTS - running.size)
        if (!batches) break
        for (const batch of batches) {
          const delivery = deliver(batch).finally(() => {
            running.delete(delivery)
            loop.wake()
          })
          running.add(delivery)
        }
      }
      return false
    },
    every: 1000,
    breath: 5,
  })
  return {
    wake() {
      told = true
      loop.wake()
    },
    async stop() {
      await loop.stop()
      // A request takes ten seconds at most; a worker has more.
      const late = setTimeout(() => cut.abort(), 15_000)
      while (running.size > 0) await Promise.allSettled(running)
      clearTimeout(late)
    },
  }
}

import { type Core, count, type Log, observe, Tally } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/**
 * Concurrent requests per worker, each of which costs a socket and a batch. A slow receiver occupies one of them for ten seconds. An account has
 * few receivers, but any number of subaccounts: together they have a part of the slots.
 */
const SLOTS = { all: 200, ofHolder: 50 } as const
/** Milliseconds between checks for webhooks with new events: the minimum, and the maximum without a notification. */
const MIN_CHECK_MS = 250
const MAX_CHECK_MS = 5000

/** Sends due batches to webhooks while slots are free. When stopped, waits for the requests in progress. */
export function runWebhookLoop({ core, log }: { core: Core; log: Log }): Loop {
  const running = new Set<Promise<void>>()
  /** Requests by account, with those of its subaccounts. */
  const ofHolder = new Tally<number>()
  const cut = new AbortController()
  let notified = true
  let checkedAt = -MAX_CHECK_MS

  /** Checks all webhooks, so it does not run after each request. */
  async function look(): Promise<void> {
    const since = performance.now() - checkedAt
    if (since < MIN_CHECK_MS || (!notified && since < MAX_CHECK_MS)) return
    notified = false
    checkedAt = performance.now()
    await core.webhooks.notice()
  }

  async function deliver(batch: NonNullable<Awaited<ReturnType<Core['webhooks']['claim']>>>[number]): Promise<void> {
    const { webhookId, accountId } = batch
    const began = performance.now()
    try {
      const finished = await core.webhooks.deliver(batch, cut.signal)
      count('webhook_batches_total', { result: finished })
      observe('webhook_seconds', (performance.now() - began) / 1000, {})
      if (finished === 'disabled') log.warn({ webhookId, accountId }, 'webhook disabled: its URL does not respond')
      if (finished === 'dead') log.warn({ webhookId, accountId }, 'webhook batch dead-lettered')
    } catch (err) {
      // Its lease expires, and the batch is sent again.
      log.warn({ err, webhookId }, 'could not record webhook batch result')
    }
  }

  const loop = runLoop({
    name: 'webhook',
    readiness: core.readiness,
    log,
    async act(signal) {
      if (!(await core.pendingWork.has('webhooks'))) return false
      await look()
      while (!signal.aborted && running.size < SLOTS.all) {
        const busy = [...ofHolder].flatMap(([holder, requests]) => (requests < SLOTS.ofHolder ? [] : [holder]))
        const batches = await core.webhooks.claim(SLOTS.all - running.size, busy)
        if (!batches) break
        for (const batch of batches) {
          ofHolder.add(batch.holder, 1)
          const delivery = deliver(batch).finally(() => {
            running.delete(delivery)
            ofHolder.add(batch.holder, -1)
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
      notified = true
      loop.wake()
    },
    async stop() {
      await loop.stop()
      // A request takes ten seconds at most; the worker's drain is longer.
      const late = setTimeout(() => cut.abort(), 15_000)
      while (running.size > 0) await Promise.allSettled(running)
      clearTimeout(late)
    },
  }
}

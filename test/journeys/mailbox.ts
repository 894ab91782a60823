import { createServer } from 'node:http'
import type { Event } from '@postrider/core'
import type { Test } from 'tap'
import { moveClock } from '../helpers/database.ts'
import { startProcess } from '../helpers/processes.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService, type Sender, type TestService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'

/** The whole service with a sandbox inbox, and a page somewhere else that mail leads to. */
export interface Journey {
  readonly service: TestService
  readonly sender: Sender
  readonly base: string
  readonly inbox: string
  /** The page its mail leads to. */
  readonly shop: string
  /** Sends, waits until it stands in the inbox, and lets a minute go by. Answers where it stands, and its id. */
  deliver(extra: Record<string, unknown>): Promise<{ readonly inboxId: string; readonly messageId: string }>
  /** What the account is told of a message, once there is so much. */
  told(messageId: string, count: number): Promise<Event[]>
}

export async function makeJourney(t: Test): Promise<Journey> {
  const service = await makeService(t, { DELIVERY: 'sandbox', WEBHOOK_PRIVATE_NETWORKS: 'allow' })
  const sender = await service.makeSender()
  for (const name of ['sandbox', 'api', 'delivery'] as const) await startProcess(t, name, service.env)
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const inbox = `http://127.0.0.1:${service.config.sandboxHttpPort}`
  const shop = createServer((request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<title>The shop</title><p id="referrer">${request.headers.referer ?? 'none'}</p>`)
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  t.teardown(() => shop.close())
  let minutes = 0
  return {
    service,
    sender,
    base,
    inbox,
    shop: `http://127.0.0.1:${(shop.address() as { port: number }).port}/`,
    async deliver(extra) {
      const before = new Set((await listed(inbox)).map(({ id }) => id))
      const { body } = await sendV2(base, sender.apiKey, v2Body(sender, extra))
      const messageId = body.data?.message_id as string
      const arrived = await until('the message', async () => (await listed(inbox)).find(({ id }) => !before.has(id)))
      await until('its delivery', async () => {
        return (await service.core.messages.show(messageId))?.deliveries[0]?.state === 'delivered'
      })
      await moveClock(service.sql, `${++minutes} minutes`)
      return { inboxId: arrived.id, messageId }
    },
    told: (messageId, count) =>
      until(`${count} events of what its reader did`, async () => {
        const found: Event[] = []
        for (let after = 0; ; ) {
          const page = await service.core.events.read({ accountId: sender.accountId, after, limit: 100 })
          found.push(...page.events)
          if (page.next === after) break
          after = page.next
        }
        const own = found.filter(
          ({ type, delivery }) =>
            delivery?.messageId === messageId && ['opened', 'clicked', 'unsubscribed'].includes(type),
        )
        return own.length >= count && own
      }),
  }
}

async function listed(inbox: string): Promise<{ id: string }[]> {
  return (await (await fetch(`${inbox}/messages`)).json()) as { id: string }[]
}

import t from 'tap'
import { call, errorText } from '../api/call.ts'
import { postrider } from '../cli/postrider.ts'
import { startReceiver } from '../helpers/receiver.ts'
import { until } from '../helpers/until.ts'
import { addEvents, addWebhook, idsIn, startTelling, untilPassed } from './webhook-worker.ts'

/** Webhooks that get only the events of some domains and tags. */
const service = await startTelling(t)
const base = await service.openApi()

t.test(
  'a webhook limited to tags or domains gets the events of these messages, and those without a message',
  async (t) => {
    const sender = await service.makeSender()
    const other = { ...sender, domain: `host.${sender.domain}` }
    const stranger = { ...sender, domain: 'else.example' }
    const [all, tagged, from, both] = await Promise.all(Array.from({ length: 4 }, () => startReceiver(t)))
    const events = ['sent', 'account'] as const
    await addWebhook(service, sender, all?.url ?? '', { events })
    await addWebhook(service, sender, tagged?.url ?? '', { events, tags: ['berth', 'quay'] })
    await addWebhook(service, sender, from?.url ?? '', { events, domains: [sender.domain.toUpperCase()] })
    await addWebhook(service, sender, both?.url ?? '', { events, domains: ['else.example'], tags: ['quay'] })
    await addEvents(service, sender, 2)
    await addEvents(service, other, 1, { tags: ['quay', 'a'] })
    await addEvents(service, stranger, 1, { tags: ['pier'] })
    await service.sql`insert into events (occurred_at, account_id, type, detail) values (service_now(), ${sender.accountId}, 'account', '{}')`
    const told = (receiver: typeof all) => idsIn(receiver?.batches() ?? []).length
    await until('all events', () => told(all) === 5)
    await until('the others', () => told(tagged) >= 4 && told(from) >= 4 && told(both) >= 1)
    await untilPassed(t, service)
    t.strictSame([told(tagged), told(from), told(both)], [4, 4, 1])
  },
)

t.test('limits are set, shown and removed over HTTP', async (t) => {
  const sender = await service.makeSender()
  const receiver = await startReceiver(t)
  const headers = { api_key: sender.apiKey, 'content-type': 'application/json' }
  const ask = (path: string, body: Record<string, unknown>) => call(base, { path: `/v2${path}`, headers, body })
  const made = await ask('/webhooks', {
    url: receiver.url,
    events: 'sent',
    domains: 'Ship.example, b.example',
    tags: ['a'],
  })
  t.match(made.json?.data, { domains: ['ship.example', 'b.example'], tags: ['a'] })
  const { webhookId } = (made.json?.data ?? {}) as { webhookId: number }
  t.match((await ask(`/webhooks/${webhookId}`, { eventIds: 1 })).json?.data, { domains: ['ship.example', 'b.example'] })
  t.match((await ask(`/webhooks/${webhookId}`, { domains: null, tags: 'b,c' })).json?.data, {
    domains: [],
    tags: ['b', 'c'],
  })
  t.match((await ask(`/webhooks/${webhookId}`, { tags: [] })).json?.data, { domains: [], tags: [] })
  t.match(
    errorText(await ask(`/webhooks/${webhookId}`, { domains: 'a..b' })),
    /^Parameter \[domains\] is invalid: must be a list of domain names$/,
  )
  t.match(
    errorText(await ask(`/webhooks/${webhookId}`, { tags: ['x'.repeat(256)] })),
    /^Parameter \[tags\] is invalid: /,
  )
  t.match(
    errorText(await ask(`/webhooks/${webhookId}`, { tags: Array.from({ length: 51 }, (_, at) => `t${at}`) })),
    /\[tags\]/,
  )
})

t.test('and on the command line', async (t) => {
  const sender = await service.makeSender()
  const receiver = await startReceiver(t)
  const account = ['--account', String(sender.accountId)]
  const { id } = await addWebhook(service, sender, receiver.url)
  const run = (...args: string[]) => postrider(service.env, 'webhook', ...args)
  await run('update', String(id), ...account, '--tag', 'a', '--tag', 'b', '--domain', 'ship.example')
  t.match((await run('show', String(id), ...account)).stdout, /domains +ship\.example.*tags +a, b/s)
  await run('update', String(id), ...account, '--tag', '')
  t.match(await service.core.webhooks.show(sender.accountId, id), { tags: null, domains: ['ship.example'] })
})

import { type DomainWithRecords, fromShortMessageId } from '@postrider/core'
import t, { type Test } from 'tap'
import { call } from '../api/call.ts'
import { ask } from '../api/v3/ask.ts'
import { startDns } from '../helpers/dns.ts'
import { startReceiver } from '../helpers/receiver.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { startOutbox } from './outbox.ts'
import { addWebhook, LOOPBACK } from './webhook-worker.ts'

/** What happens behind a test's back while the server is asked for leave to send the message. */
let atData: ((from: string) => Promise<void>) | undefined
let greylists = false
const dns = await startDns(t, {})
const sink = await startSink(t, {
  rcpt: () => (greylists ? '451 4.7.1 greylisted' : undefined),
  async data({ message }) {
    await atData?.(message.from)
    return undefined
  },
})
const outbox = await startOutbox(t, {
  DELIVERY: `smtp://127.0.0.1:${sink.port}`,
  DNS_SERVERS: dns.address,
  RETURN_PATH_HOST: 'returns.test',
  ...LOOPBACK,
})
const { service, sender } = outbox
const { accountId, apiKey } = sender
const { domains, batches } = service.core
const by = { keyId: null, address: null }
const url = `http://127.0.0.1:${service.config.apiPort}`
const other = await service.makeSender()

function publish({ dns: records }: DomainWithRecords): void {
  for (const { type, host, value } of records) dns.zones[host] = type === 'TXT' ? { txt: [value] } : { cname: value }
}

function unpublish({ dns: records }: DomainWithRecords): void {
  for (const { host } of records) dns.zones[host] = {}
}

/** A domain whose records were seen right, by this account. */
async function prove(owner: number, name: string): Promise<DomainWithRecords> {
  const claim = await domains.add({ accountId: owner, name })
  publish(claim)
  const proved = await domains.verify(owner, name, by)
  if (proved.state !== 'active') throw new Error(`${name} is ${proved.state}`)
  return proved
}

/** The other account proves that the domain is its own. */
async function lose(own: DomainWithRecords): Promise<void> {
  unpublish(own)
  await prove(other.accountId, own.name)
  if ((await domains.show(own.name, accountId)).state !== 'pending') throw new Error(`${own.name} is not lost`)
}

const reject = async ({ id }: DomainWithRecords): Promise<void> => {
  await service.sql`update domains set state = 'rejected' where id = ${id}`
}

const from = (name: string) => ({ from: { fromEmail: `boss@${name}`, fromName: 'Boss' } })

let moved = 0

async function advance(minutes: number): Promise<void> {
  moved += minutes
  await outbox.advance(minutes)
}

/** Seconds since 1970, this far ahead of the service's clock. */
const ahead = (minutes: number): number => Math.floor(Date.now() / 1000) + (moved + minutes) * 60

/** What the sink saw of the domain: senders of transactions, and messages. */
function seen(name: string): { transactions: number; messages: number } {
  return {
    transactions: sink.commands.filter((line) => line.startsWith('MAIL') && line.includes(`.${name}>`)).length,
    messages: sink.messages.filter(({ data }) => data.includes(`boss@${name}`)).length,
  }
}

async function isDropped(t: Test, id: string, attempt = 0): Promise<void> {
  t.match(await outbox.inState(id, 'dropped'), { reason: 'domain-lost', attempt, nextAt: null, finishedAt: Date })
  t.match((await outbox.story(id)).events.at(-1), { type: 'dropped', detail: { reason: 'domain-lost' } })
}

t.test(
  'the sender reads in the log and in its webhooks why its mail was dropped, and no credit comes back',
  async (t) => {
    const own = await prove(accountId, 'told.example')
    const receivers = await Promise.all([startReceiver(t), startReceiver(t)])
    const [v2, v3] = receivers.map(({ url }) => url) as [string, string]
    await addWebhook(service, sender, v2, { format: 'v2', events: ['dropped'] })
    await addWebhook(service, sender, v3, { format: 'v3', events: ['dropped'] })
    await service.core.credits.limit(accountId, 50)
    const id = await outbox.send('told@harbor.example', { ...from(own.name), schedule: ahead(30) })
    await lose(own)
    await advance(31)
    await isDropped(t, id)
    const told = (await until('both', () => {
      const events = receivers.map((receiver) => receiver.batches().flatMap(({ body }) => JSON.parse(body)))
      return events.every(({ length }) => length > 0) && events
    })) as unknown[][]
    const remarks = 'Email dropped: The sending domain was lost'
    t.match(told[0], [{ EVENT: 'dropped', EMAIL: 'told@harbor.example', RESPONSE: remarks }])
    t.match(told[1], [
      { event: 'dropped', email: 'told@harbor.example', reason: 'Sending Domain Lost', status: '5.0.0' },
    ])
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
    const log = await call(url, {
      method: 'GET',
      path: `/v2/logs?startdate=${yesterday}&email=told@harbor.example`,
      headers: { api_key: apiKey },
    })
    t.match(log.json?.data, [{ status: 'dropped', remarks }])
    t.match(await service.core.credits.show(accountId), { available: 49 })
  },
)

t.test(
  'scheduled mail of a domain that another account proves to be its own is dropped, and nothing is on the wire',
  async (t) => {
    const own = await prove(accountId, 'two.example')
    // So that the worker has the key at hand.
    await outbox.inState(await outbox.send('a@harbor.example', from(own.name)), 'delivered')
    t.match(seen(own.name), { transactions: 1, messages: 1 })
    const id = await outbox.send('a@harbor.example', { ...from(own.name), schedule: ahead(60) })
    await lose(own)
    await advance(61)
    await isDropped(t, id)
    t.match(seen(own.name), { transactions: 1, messages: 1 }, 'nothing more')
  },
)

t.test('mail held in a paused batch is dropped when it is resumed after the loss', async (t) => {
  const own = await prove(accountId, 'batch.example')
  const batch = await batches.create(accountId)
  const { headers } = await ask(url, {
    path: '/mail/send',
    key: apiKey,
    body: {
      personalizations: [{ to: [{ email: 'a@harbor.example' }] }],
      from: { email: `boss@${own.name}` },
      subject: 'Berth 4',
      content: [{ type: 'text/plain', value: 'Ready.' }],
      batch_id: batch,
      send_at: ahead(30),
    },
  })
  const id = fromShortMessageId(String(headers['x-message-id'])) as string
  await batches.hold({ accountId, id: batch, by }, 'pause')
  await advance(31)
  await lose(own)
  await batches.resume({ accountId, id: batch, by })
  await isDropped(t, id)
  t.match(seen(own.name), { transactions: 0, messages: 0 })
})

t.test('deferred mail is dropped at its next turn after the loss', async (t) => {
  const own = await prove(accountId, 'greylisted.example')
  greylists = true
  const id = await outbox.send('a@harbor.example', from(own.name))
  await outbox.inState(id, 'deferred')
  greylists = false
  await lose(own)
  await advance(10)
  await isDropped(t, id, 1)
  t.match(seen(own.name), { transactions: 1, messages: 0 })
})

t.test(
  'a domain that is lost in the middle of the conversation sends nothing: the final dot is not written',
  async (t) => {
    const own = await prove(accountId, 'middle.example')
    atData = (from) => (from.endsWith(`.${own.name}`) ? lose(own) : Promise.resolve())
    const id = await outbox.send('a@harbor.example', from(own.name))
    await isDropped(t, id)
    atData = undefined
    t.match(seen(own.name), { transactions: 1, messages: 0 })
  },
)

t.test('mail of a domain that the operator rejects is dropped', async (t) => {
  const own = await prove(accountId, 'rejected.example')
  const id = await outbox.send('a@harbor.example', { ...from(own.name), schedule: ahead(30) })
  await reject(own)
  await advance(31)
  await isDropped(t, id)
  t.match(seen(own.name), { transactions: 0, messages: 0 })
})

t.test('who deletes what is left of a lost domain, or has the claim end, does not send as it either', async (t) => {
  const [deleted, ended] = [await prove(accountId, 'deleted.example'), await prove(accountId, 'ended.example')]
  const schedule = ahead(20 * 24 * 60)
  const ids = await Promise.all(
    [deleted, ended].map(({ name }) => outbox.send('a@harbor.example', { ...from(name), schedule })),
  )
  for (const own of [deleted, ended]) await lose(own)
  await domains.remove(accountId, deleted.name, by)
  await advance(15 * 24 * 60)
  await until(
    'the claim has ended',
    async () => (await domains.list(accountId)).every(({ name }) => name !== ended.name),
    40_000,
  )
  await advance(5 * 24 * 60 + 1)
  for (const id of ids) await isDropped(t, id)
  t.match(
    [deleted, ended].map(({ name }) => seen(name).messages),
    [0, 0],
  )
})

t.test('mail waits on while the records of its domain are wrong, and is delivered though it is inactive', async (t) => {
  const own = await prove(accountId, 'broken.example')
  const id = await outbox.send('a@harbor.example', { ...from(own.name), schedule: ahead(5 * 24 * 60) })
  unpublish(own)
  t.match(await domains.verify(accountId, own.name, by), { state: 'active', brokenSince: Date })
  await advance(4 * 24 * 60)
  t.match(await domains.verify(accountId, own.name, by), { state: 'inactive' })
  await advance(24 * 60 + 1)
  await outbox.inState(id, 'delivered')
  t.match(seen(own.name), { messages: 1 })
})

t.test('mail of a domain that was lost and won back before it is due is delivered', async (t) => {
  const own = await prove(accountId, 'back.example')
  const id = await outbox.send('a@harbor.example', { ...from(own.name), schedule: ahead(30) })
  await lose(own)
  unpublish(await domains.show(own.name))
  publish(own)
  t.match(await domains.verify(accountId, own.name, by), { state: 'active' })
  await advance(31)
  await outbox.inState(id, 'delivered')
  t.match(seen(own.name), { messages: 1 })
})

t.test('one account’s loss leaves the mail of the account that has the domain now alone', async (t) => {
  const own = await prove(accountId, 'kept.example')
  const id = await outbox.send('a@harbor.example', { ...from(own.name), schedule: ahead(30) })
  await lose(own)
  const answer = await ask(url, {
    path: '/mail/send',
    key: other.apiKey,
    body: {
      personalizations: [{ to: [{ email: 'b@harbor.example' }] }],
      from: { email: `boss@${own.name}` },
      subject: 'Berth 5',
      content: [{ type: 'text/plain', value: 'Ready.' }],
    },
  })
  await outbox.inState(fromShortMessageId(String(answer.headers['x-message-id'])) as string, 'delivered')
  await advance(31)
  await isDropped(t, id)
  t.match(seen(own.name), { messages: 1 })
})

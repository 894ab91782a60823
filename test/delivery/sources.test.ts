import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sendV2, v2Body } from '../helpers/send.ts'
import type { Sender } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { startInternetProcess } from './outbox.ts'
import { untilSourcesRead } from './sources-read.ts'

const FILE = join(t.testdir(), 'providers.yaml')
writeFileSync(
  FILE,
  `providers:
  - name: harbour
    mx: [.harbour.example]
    connections: 2
    rules:
      - { id: harbour-slow, reply: 'slow down', pause: 1h }
`,
)
const internet = await startInternetProcess(t, { PROVIDERS_FILE: FILE })
const { service } = internet
const { sources } = service.core

async function sendMany(count: number, domain: string, extra = {}, sender: Sender = internet.sender): Promise<string> {
  const personalizations = Array.from({ length: count }, (_, at) => ({ recipient: `r${at}@${domain}` }))
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const { status, body } = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations, ...extra }))
  if (status !== 200) throw new Error(`not accepted: ${JSON.stringify(body)}`)
  return body.data?.message_id as string
}

/** A host and a domain of its own, and the addresses that its messages came from. */
async function makeHost(
  t: Parameters<typeof internet.host>[0],
  options: Parameters<typeof internet.host>[1] = {},
  under?: string,
) {
  const host = await internet.host(t, options, under)
  const from = (): Record<string, number> =>
    Object.fromEntries(
      [...Map.groupBy(host.messages, ({ client }) => client)].map(([client, all]) => [client, all.length]),
    )
  return { host, domain: internet.domain([host]), from }
}

let names = 0
/** Adds a source that is removed at the end of the test. */
async function addSource(
  t: { teardown(fn: () => unknown): void },
  source: { address: string; pool?: string; weight?: number },
) {
  const name = `mta-${++names}`
  await sources.add({ name, helo: `${name}.example.com`, ...source })
  t.teardown(() => sources.remove(name))
  await untilSourcesRead(internet)
  return name
}

t.test('without sources, the operating system chooses the address and the service its own name', async (t) => {
  const { host, domain } = await makeHost(t)
  const id = await sendMany(1, domain)
  await internet.inState(id, 'delivered')
  t.match(host.messages, [{ client: '127.0.0.1', helo: service.config.heloName }])
})

t.test('mail is sent from the sources of the default pool by their weights, each with its own name', async (t) => {
  const heavy = await addSource(t, { address: '127.0.0.2', weight: 30 })
  await addSource(t, { address: '127.0.0.3', weight: 10 })
  const { host, domain, from } = await makeHost(t)
  const id = await sendMany(400, domain)
  await until('all of it', () => host.messages.length === 400)
  const heavyShare = (from()['127.0.0.2'] ?? 0) / 400
  t.ok(Math.abs(heavyShare - 0.75) < 0.1, `${heavyShare} of three quarters`)
  t.equal(Object.keys(from()).length, 2)
  for (const { client, helo } of host.messages) {
    if (client === '127.0.0.2') t.equal(helo, `${heavy}.example.com`)
  }
  const [attempt] = await service.sql`
    select place from attempts where message_id = ${uuid(id)} and place like ${`%@${heavy}`} limit 1`
  t.equal(attempt?.place, `${host.name}@${heavy}`, 'attempts tell the source')
  const events = await service.sql<{ source: string }[]>`
    select distinct detail->>'source' as source from events where message_id = ${uuid(id)} and type = 'sent' order by 1`
  t.ok(
    events.some(({ source }) => source === heavy),
    'events, too',
  )
})

t.test(
  'a delivery has the same source at every attempt, until that is paused; only the mail of a paused one moves',
  async (t) => {
    const paused = await addSource(t, { address: '127.0.0.4' })
    await addSource(t, { address: '127.0.0.5' })
    await addSource(t, { address: '127.0.0.6' })
    const offered = new Map<string, string[]>()
    const { domain } = await makeHost(t, {
      rcpt: ({ command, message }) => {
        const recipient = /<(.*)>/.exec(command)?.[1] ?? ''
        offered.set(recipient, [...(offered.get(recipient) ?? []), message.client])
        return offered.get(recipient)?.length === 3 ? undefined : '451 4.7.1 greylisted, try again later'
      },
    })
    await sendMany(40, domain)
    const untilOffered = (times: number) =>
      until(
        `attempt ${times}`,
        () => [...offered.values()].length === 40 && [...offered.values()].every(({ length }) => length === times),
      )
    await untilOffered(1)
    await untilDeferred(domain, 40)
    await internet.advance(30)
    await untilOffered(2)
    t.ok(
      [...offered.values()].every(([first, second]) => first === second),
      'the second attempt has the same source',
    )
    await untilDeferred(domain, 40)
    await sources.change(paused, { pause: 'listed' })
    await untilSourcesRead(internet)
    await internet.advance(60)
    await untilOffered(3)
    for (const [, second, third] of offered.values()) {
      if (second === '127.0.0.4') t.not(third, '127.0.0.4', 'a paused source sends nothing')
      else t.equal(third, second, 'the mail of the others stays')
    }
  },
)

t.test('limits and back-off apply to each source of a provider', async (t) => {
  await addSource(t, { address: '127.0.0.7' })
  await addSource(t, { address: '127.0.0.8' })
  const open = new Map<number, string>()
  let most = 0
  const { host, domain, from } = await makeHost(
    t,
    {
      mail: ({ session, message: { client } }) => {
        open.set(session, client)
        return client === '127.0.0.7' ? '421 4.7.0 slow down' : undefined
      },
      dot: async ({ message: { client } }) => {
        most = Math.max(most, host.open)
        await new Promise((resolve) => setTimeout(resolve, client ? 20 : 0))
        return undefined
      },
    },
    'harbour.example',
  )
  await sendMany(60, domain)
  const parked = () => service.sql`
    select place, waiting_for from delivery_queue where place like 'harbour@%' and worker_id is null`
  await until(
    'the mail of the other source',
    async () =>
      host.messages.length > 10 &&
      new Set((await parked()).map(({ place }) => place)).size === 1 &&
      (await parked()).length + host.messages.length >= 55,
  )
  const [{ place = '' } = {}] = await parked()
  t.match(from(), { '127.0.0.8': Number })
  t.notOk(from()['127.0.0.7'])
  t.ok(
    (await parked()).every((one) => one.place === place),
    'only one source is paused',
  )
  t.ok(most <= 4, 'two connections per source')
})

t.test('mail parked for a source that is paused is sent from the others of its pool', async (t) => {
  const first = await addSource(t, { address: '127.0.0.9' })
  // Only this source is refused. If the other one were, too, no mail would be sent until its back-off ends.
  const { host, domain, from } = await makeHost(
    t,
    { mail: ({ message }) => (message.client === '127.0.0.9' ? '421 4.7.0 slow down' : undefined) },
    'harbour.example',
  )
  await sendMany(20, domain)
  await until(
    'parked',
    async () => (await service.sql`select 1 from delivery_queue where place = ${`harbour@${first}`}`).length >= 18,
  )
  await addSource(t, { address: '127.0.0.10' })
  await sources.change(first, { pause: 'blocked' })
  // One more may have been tried, and refused, before the source was paused.
  await until('the mail that was parked', async () => {
    const parked = await service.sql`select 1 from delivery_queue where place = ${`harbour@${first}`}`
    return parked.length === 0 && host.messages.length > 0
  })
  t.strictSame(Object.keys(from()), ['127.0.0.10'])
  // What was refused before is tried again later, by the clock of the moment when that was noted.
  await until('the result of each', async () => {
    const left = await service.sql`
      select 1 from delivery_queue where recipient_domain = ${domain} and (state <> 'deferred' or worker_id is not null)`
    return left.length === 0
  })
  await internet.advance(30)
  await until('all of it', () => host.messages.length === 20)
})

t.test('rules send mail of an account, class, domain or tag from a pool; the first one counts', async (t) => {
  for (const name of ['bulk-pool', 'tag-pool', 'fallback-pool']) await sources.addPool(name, {})
  await addSource(t, { address: '127.0.0.11' })
  await addSource(t, { address: '127.0.0.12', pool: 'bulk-pool' })
  const tagged = await addSource(t, { address: '127.0.0.13', pool: 'tag-pool' })
  await addSource(t, { address: '127.0.0.14', pool: 'fallback-pool' })
  const other = await service.makeSender()
  const rules = [
    await sources.addRule({ pool: 'bulk-pool', accountId: internet.sender.accountId, class: 2 }),
    await sources.addRule({ pool: 'tag-pool', tag: 'receipt', position: 1 }),
    await sources.addRule({ pool: 'bulk-pool', sendingDomain: other.domain.toUpperCase() }),
  ]
  await untilSourcesRead(internet)
  const sentFrom = async (extra = {}, sender = internet.sender) => {
    const { host, domain } = await makeHost(t)
    await internet.inState(await sendMany(1, domain, extra, sender), 'delivered')
    return host.messages[0]?.client
  }
  t.equal(await sentFrom(), '127.0.0.11', 'no rule applies')
  t.equal(await sentFrom({ settings: { class: 'bulk' } }), '127.0.0.12')
  t.equal(await sentFrom({ settings: { class: 'bulk' }, tags: ['receipt'] }), '127.0.0.13', 'the first rule counts')
  t.equal(
    await sentFrom({ settings: { class: 'bulk' } }, await service.makeSender()),
    '127.0.0.11',
    'of another account',
  )
  t.equal(await sentFrom({}, other), '127.0.0.12', 'by its sending domain')
  await sources.changePool('tag-pool', { fallback: 'fallback-pool' })
  await sources.change(tagged, { pause: 'listed' })
  await untilSourcesRead(internet)
  t.equal(await sentFrom({ tags: ['receipt'] }), '127.0.0.14', 'the fallback sends if no source of the pool can')
  for (const { id } of rules) await sources.removeRule(id)
  await sources.changePool('tag-pool', { fallback: null })
})

t.test('mail whose source no worker has waits, says so, and is sent when one has it', async (t) => {
  await sources.addPool('far', {})
  await sources.add({ name: 'far-1', address: '192.0.2.77', helo: 'far-1.example.com', pool: 'far' })
  const rule = await sources.addRule({ pool: 'far', tag: 'far' })
  await untilSourcesRead(internet)
  const { host, domain } = await makeHost(t)
  const id = await sendMany(1, domain, { tags: ['far'] })
  await until(
    'it is parked',
    async () =>
      (await service.sql`select 1 from delivery_queue where place like '%@far-1' and waiting_for = 'source'`).length ===
      1,
  )
  t.match(await internet.story(id), { deliveries: [{ state: 'queued', attempt: 0 }] })
  await new Promise((resolve) => setTimeout(resolve, 1500))
  t.equal(host.messages.length, 0)
  await sources.add({ name: 'far-2', address: '127.0.0.15', helo: 'far-2.example.com', pool: 'far' })
  await internet.inState(id, 'delivered')
  t.equal(host.messages[0]?.client, '127.0.0.15')
  await sources.removeRule(rule.id)
  for (const name of ['far-1', 'far-2']) await sources.remove(name)
})

// The last one, since it stops the worker.
t.test('a worker that stops gives its sources up at once, and ends what it has begun', async (t) => {
  await addSource(t, { address: '127.0.0.16' })
  let isOffered = false
  const { promise, resolve: takeIt } = Promise.withResolvers<undefined>()
  const { host, domain } = await makeHost(t, {
    dot: () => {
      isOffered = true
      return promise
    },
  })
  const id = await sendMany(1, domain)
  await until('it to be offered', () => isOffered)
  const stopped = internet.worker.stop()
  await until('the source to be without a worker', async () => (await sources.read()).sources[0]?.workers === 0)
  t.equal(host.messages.length, 0, 'while the conversation goes on')
  takeIt(undefined)
  t.equal(await stopped, 0)
  await internet.inState(id, 'delivered')
})

/** Waits until the last attempts are recorded. */
async function untilDeferred(domain: string, count: number): Promise<void> {
  await until('deferred', async () => {
    const rows = await service.sql`
      select 1 from delivery_queue where recipient_domain = ${domain} and state = 'deferred' and worker_id is null and next_at > service_now()`
    return rows.length === count || undefined
  })
}

function uuid(id: string): string {
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

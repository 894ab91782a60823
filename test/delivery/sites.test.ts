import t from 'tap'
import { sendV2, v2Body } from '../helpers/send.ts'
import type { SinkAnswer, SinkMessage } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { type AttemptStory, startInternet } from './outbox.ts'

const CONNECTIONS = 3
const internet = await startInternet(t, { SITE_CONNECTIONS: String(CONNECTIONS) })

/** One call with so many recipients; answers the message's id. */
async function sendMany(count: number, domainOf: (at: number) => string): Promise<string> {
  const { service, sender } = internet
  const personalizations = Array.from({ length: count }, (_, at) => ({ recipient: `r${at}@${domainOf(at)}` }))
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const { status, body } = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations }))
  if (status !== 200) throw new Error(`not accepted: ${JSON.stringify(body)}`)
  return body.data?.message_id as string
}

/** How many deliveries of the message are in each state. */
async function countStates(id: string): Promise<Record<string, number>> {
  const { deliveries } = await internet.story(id)
  const counts: Record<string, number> = {}
  for (const { state } of deliveries) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

function allInState(id: string, state: string, count: number): Promise<true> {
  return until(
    `${count} deliveries ${state}`,
    async () => (await countStates(id))[state] === count || undefined,
    40_000,
  )
}

/** How often each recipient got the message. */
function mostCopies(messages: readonly SinkMessage[]): number {
  const copies = new Map<string, number>()
  for (const { to } of messages) copies.set(String(to), (copies.get(String(to)) ?? 0) + 1)
  return Math.max(...copies.values())
}

/** Something that servers wait for until the test lets them go. */
function makeGate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

function pause(milliseconds: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds, undefined))
}

t.test('a site never sees more connections than its limit, and they are used again and again', async (t) => {
  let most = 0
  const host = await internet.host(t, {
    greeting: () => {
      most = Math.max(most, host.open)
      return undefined
    },
    dot: () => pause(10),
  })
  const domain = internet.domain([host])
  const ids = await Promise.all([1, 2, 3].map(() => sendMany(50, () => domain)))
  for (const id of ids) await allInState(id, 'delivered', 50)
  t.equal(host.messages.length, 150)
  t.equal(most, CONNECTIONS, 'as many at once as the limit allows')
  t.ok(host.sessions <= 2 * CONNECTIONS, `150 messages took ${host.sessions} sessions`)
})

t.test('domains with the same hosts are one site: they share its limit and its connections', async (t) => {
  let most = 0
  const [first, second] = [await internet.host(t), await internet.host(t)]
  const host = await internet.host(t, {
    greeting: () => {
      most = Math.max(most, host.open)
      return undefined
    },
    dot: () => pause(20),
  })
  // The others are never reached; which preference a domain gives them makes no difference to what a site is.
  const domains = [
    internet.domain([host, first, second]),
    internet.domain([host, second, first]),
    internet.domain([host, first, second]),
  ]
  await internet.inState(await internet.send(`a@${domains[0]}`), 'delivered')
  await internet.inState(await internet.send(`a@${domains[1]}`), 'delivered')
  t.equal(host.sessions, 1, "one domain's mail goes over the other's connection")

  await allInState(await sendMany(60, (at) => domains[at % 3] as string), 'delivered', 60)
  t.equal(host.messages.length, 62)
  t.ok(most <= CONNECTIONS, `${most} connections at once`)
})

t.test('a site that takes its time delays no others, however much waits for it', async (t) => {
  const gate = makeGate()
  const slow = await internet.host(t, { dot: () => gate.opened as Promise<undefined> })
  const quick = await internet.host(t)
  const slowDomain = internet.domain([slow])
  // More than its connections carry and its queue in the worker holds.
  const waiting = 100
  const held = await sendMany(waiting, () => slowDomain)
  await until('the slow site to be busy', () => slow.open === CONNECTIONS)

  const quickDomain = internet.domain([quick])
  const passed = await Promise.all([1, 2, 3].map(() => sendMany(20, () => quickDomain)))
  for (const id of passed) await allInState(id, 'delivered', 20)
  t.equal((await countStates(held)).delivered ?? 0, 0, 'all of it while the slow site had not taken one')
  t.equal(slow.open, CONNECTIONS)

  gate.open()
  await allInState(held, 'delivered', waiting)
  t.equal(slow.messages.length, waiting)
  t.equal(mostCopies(slow.messages), 1)
})

t.test('a site that says nothing at all delays no others', async (t) => {
  const gate = makeGate()
  const mute = await internet.host(t, {
    greeting: async (): Promise<SinkAnswer> => {
      await gate.opened
      return '421 4.3.2 closing'
    },
  })
  const quick = await internet.host(t)
  const muteDomain = internet.domain([mute])
  const quickDomain = internet.domain([quick])
  const id = await sendMany(40, (at) => (at % 2 === 0 ? muteDomain : quickDomain))
  await allInState(id, 'delivered', 20)
  t.ok(mute.open <= CONNECTIONS)
  gate.open()
  await allInState(id, 'deferred', 20)
})

t.test('more mute sites than a worker has room for delay no others', async (t) => {
  const gate = makeGate()
  const quick = await internet.host(t)
  const greeting = async (): Promise<SinkAnswer> => {
    await gate.opened
    return '421 4.3.2 closing'
  }
  const mute = await Promise.all(Array.from({ length: 90 }, () => internet.host(t, { greeting })))
  const domains = mute.map((host) => internet.domain([host]))
  // 90 sites with room for 27 each would fill a hand of 2,000.
  for (let call = 0; call < 5; call++) await sendMany(900, (at) => domains[at % 90] as string)
  await until('the mute sites to be busy', () => mute.every((host) => host.open === CONNECTIONS), 40_000)
  const domain = internet.domain([quick])
  await allInState(await sendMany(20, () => domain), 'delivered', 20)
  t.ok(mute.every((host) => host.open <= CONNECTIONS))
  gate.open()
})

t.test('a host that allows fewer connections than we open gets its mail over those it allows', async (t) => {
  const host = await internet.host(t, {
    greeting: () => (host.open > 1 ? '421 4.7.0 too many connections from your address' : undefined),
    dot: () => pause(10),
  })
  const domain = internet.domain([host])
  const id = await sendMany(60, () => domain)
  await until('all but those refused', async () => {
    const { delivered = 0, deferred = 0 } = await countStates(id)
    return delivered + deferred === 60 || undefined
  })
  const { delivered = 0 } = await countStates(id)
  t.ok(delivered >= 48, `${delivered} of 60 delivered at once`)
})

t.test(
  'a host that refuses every session is left alone after some; the others wait, and spend no attempt',
  async (t) => {
    const host = await internet.host(t, { greeting: () => '554 5.7.1 not you' })
    const domain = internet.domain([host])
    await sendMany(60, () => domain)
    const waiting = () => internet.service.sql`
    select attempt from delivery_queue where recipient_domain = ${domain} and place = ${host.name}`
    await until('most to wait', async () => (await waiting()).length > 40 || undefined)
    await until('all to be deferred or to wait', async () => {
      const deferred = await internet.service.sql`
      select 1 from delivery_queue where recipient_domain = ${domain} and state = 'deferred' and place is null`
      return deferred.length + (await waiting()).length === 60 || undefined
    })
    t.ok((await waiting()).every(({ attempt }) => attempt === 0))
    t.ok(host.sessions < 20, `${host.sessions} sessions`)
  },
)

t.test('a site that refuses connections is asked by as many as may ask at once, and not by the rest', async (t) => {
  const dead = { name: internet.newName() }
  internet.dns.zones[dead.name] = { a: [internet.newAddress()] }
  const domain = internet.domain([dead])
  const id = await sendMany(40, () => domain)
  await allInState(id, 'deferred', 40)
  const { deliveries } = await internet.story(id)
  const asked = deliveries.filter(({ attempts }) => attempts.some(wasRefused))
  t.ok(asked.length >= 1 && asked.length <= CONNECTIONS, `${asked.length} of 40 really tried to connect`)
  for (const { attempts } of deliveries) t.match(attempts, [{ outcome: 'deferred', stage: 'connect' }])
})

function wasRefused({ conversation }: AttemptStory): boolean {
  return JSON.stringify(conversation).includes('ECONNREFUSED')
}

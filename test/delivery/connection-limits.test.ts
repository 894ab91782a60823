import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { sendV2, v2Body } from '../helpers/send.ts'
import { HANG_UP, type Sink, type SinkAnswer } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openWorker } from '../helpers/worker.ts'
import { startInternet } from './outbox.ts'

const FILE = join(t.testdir(), 'providers.yaml')
writeFileSync(FILE, 'providers:\n  - name: many\n    mx: [.many.example]\n    connections: 10\n')
const internet = await startInternet(t, { SITE_CONNECTIONS: '40', PROVIDERS_FILE: FILE })
const { service } = internet
/** Twice the connections that are opened before the first refusal is heard. */
const MOST_REFUSED = 80

async function sendMany(count: number, ...domains: readonly string[]): Promise<void> {
  const domainOf = (at: number) => domains[at % domains.length]
  const personalizations = Array.from({ length: count }, (_, at) => ({ recipient: `r${at}@${domainOf(at)}` }))
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const { status } = await sendV2(base, internet.sender.apiKey, v2Body(internet.sender, { personalizations }))
  if (status !== 200) throw new Error(`not accepted: ${status}`)
}

function pause(milliseconds: number, answer?: SinkAnswer): Promise<SinkAnswer | undefined> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds, answer))
}

interface Limited {
  readonly host: Sink & { readonly name: string }
  /** Connections that it takes. */
  allowed: number
  refused: number
}

/** A host that answers connections beyond those that it takes so, and takes some time for each message. */
async function makeLimited(t: Test, allowed: number, answer: SinkAnswer): Promise<Limited> {
  const limited: { allowed: number; refused: number } = { allowed, refused: 0 }
  const host = await internet.host(t, {
    greeting: () => {
      if (host.open <= limited.allowed) return undefined
      limited.refused++
      return answer
    },
    dot: () => pause(20),
  })
  return Object.assign(limited, { host })
}

const limitOf = async (host: { readonly name: string }) => {
  const [row] = await service.sql<{ value: number; seconds: number; reason: string; rule: string }[]>`
    select value, seconds, reason, rule from limit_overrides where place = ${host.name} and setting = 'connections' and until > service_now()`
  return row
}
const raiseNow = (host: { readonly name: string }) =>
  service.sql`update limit_overrides set step_at = service_now() where place = ${host.name} and setting = 'connections'`
/** Raises the limit once, or it is raised by itself meanwhile. */
async function raisedTo(host: { readonly name: string }, value: number): Promise<void> {
  await raiseNow(host)
  await until(`${value} connections`, async () => ((await limitOf(host))?.value ?? 0) >= value || undefined)
}
const attemptsOf = (domain: string) => service.sql<{ attempt: number; kind: string }[]>`
  select f.attempt, f.state as kind from finished_deliveries f where f.recipient_domain = ${domain}`

const REFUSALS: readonly (readonly [how: string, answer: SinkAnswer])[] = [
  ['answers others with 421', '421 4.7.0 too many connections from your address'],
  ['answers others in other words', '450 4.3.2 Zu viele gleichzeitige Sitzungen'],
  ['hangs up others', HANG_UP],
  ['permanently refuses others as too many', '554 5.7.0 Too many connections from your address'],
  ['permanently refuses others without a reason', '554 No SMTP service here'],
]
for (const [how, answer] of REFUSALS) {
  t.test(`a host that takes one connection and ${how} gets all its mail over one, at the first attempt`, async (t) => {
    const limited = await makeLimited(t, 1, answer)
    const domain = internet.domain([limited.host])
    await sendMany(100, domain)
    await until('the limit', async () => (await limitOf(limited.host))?.value === 1 || undefined, 60_000)
    await until('all of it', () => limited.host.messages.length === 100 || undefined, 60_000)
    await until('the last to be recorded', async () => (await attemptsOf(domain)).length === 100 || undefined)
    t.ok((await attemptsOf(domain)).every(({ attempt, kind }) => attempt === 1 && kind === 'delivered'))
    t.match(await limitOf(limited.host), { rule: 'adaptive' })
    // All that begin before the first refusal, and raises.
    t.ok(limited.refused <= MOST_REFUSED, `${limited.refused} refused`)
  })
}

t.test('workers share what a host takes: after some refusals no more of them ask at once', async (t) => {
  for (let at = 0; at < 2; at++) await openWorker(t, service)
  const limited = await makeLimited(t, 3, '421 4.7.0 too many connections')
  const domain = internet.domain([limited.host])
  await sendMany(300, domain)
  // A connection that it has not seen closed is one less for a while.
  await until('the limit', async () => ((await limitOf(limited.host))?.value ?? 9) <= 3 || undefined, 60_000)
  await until('all of it', () => limited.host.messages.length === 300 || undefined, 60_000)
  await until('the last to be recorded', async () => (await attemptsOf(domain)).length === 300 || undefined)
  t.ok(limited.refused <= MOST_REFUSED, `${limited.refused} refused`)
  t.ok((await attemptsOf(domain)).every(({ attempt }) => attempt === 1))
})

t.test('more connections are tried after a while, until one is refused', async (t) => {
  const limited = await makeLimited(t, 1, '421 4.7.0 too many connections')
  const domain = internet.domain([limited.host])
  await sendMany(20, domain)
  await until('all of it', () => limited.host.messages.length === 20 || undefined, 60_000)
  limited.allowed = 3
  await raisedTo(limited.host, 2)
  await raisedTo(limited.host, 4)
  await sendMany(100, domain)
  await until('the refusal', async () => (await limitOf(limited.host))?.seconds === 300 || undefined, 60_000)
  await until('the rest', () => limited.host.messages.length === 120 || undefined, 60_000)
  const { value = 0 } = (await limitOf(limited.host)) ?? {}
  t.ok(value <= 3, `${value} connections`)
  await raiseNow(limited.host)
  await until('one more', async () => (await limitOf(limited.host))?.value === value + 1 || undefined)
})

t.test('a host that refuses every session has no limit for that, but is asked no more for a while', async (t) => {
  const limited = await makeLimited(t, 0, '421 4.3.2 not now')
  const domain = internet.domain([limited.host])
  await sendMany(40, domain)
  await until(
    'all to be deferred',
    async () => {
      const deferred =
        await service.sql`select 1 from delivery_queue where recipient_domain = ${domain} and state = 'deferred' and attempt > 0`
      return deferred.length === 40 || undefined
    },
    60_000,
  )
  t.ok(limited.refused <= MOST_REFUSED, `${limited.refused} refused`)
})

t.test('many refusals at once, before the first message is taken, are no attempts either', async (t) => {
  const isLimited = async () => (await limitOf(host)) && true
  const host = await internet.host(t, {
    async greeting() {
      if (host.open <= 1) return undefined
      await until('ten connections', () => host.open >= 10 || host.messages.length > 0, 60_000)
      return '421 4.7.0 too many connections'
    },
    async dot() {
      if (host.messages.length === 0) await until('the limit', isLimited, 60_000)
      return undefined
    },
  })
  const domain = internet.domain([host])
  await sendMany(120, domain)
  await until('all of it', () => host.messages.length === 120 || undefined, 60_000)
  await until('the last to be recorded', async () => (await attemptsOf(domain)).length === 120 || undefined)
  t.ok((await attemptsOf(domain)).every(({ attempt, kind }) => attempt === 1 && kind === 'delivered'))
})

t.test('when a host that refused all sessions takes some again, connections are learned as at first', async (t) => {
  const limited = await makeLimited(t, 1, '421 4.3.2 shutting down')
  const domain = internet.domain([limited.host])
  await sendMany(20, domain)
  await until('all of it', () => limited.host.messages.length === 20 || undefined, 30_000)
  await raisedTo(limited.host, 2)
  await sendMany(50, domain)
  await until('the refusal', async () => (await limitOf(limited.host))?.seconds === 300 || undefined, 30_000)
  await until('the rest', () => limited.host.messages.length === 70 || undefined, 30_000)
  await until('the sessions to end', () => limited.host.open === 0 || undefined, 30_000)
  limited.allowed = 0
  await sendMany(1, domain)
  await until('the limit to be learned again', async () => (await limitOf(limited.host))?.seconds === 15 || undefined)
})

t.test(
  'mail to a site of a provider that refuses everything is deferred, and the connections of its others are not lowered further',
  async (t) => {
    let refused = 0
    const away = await internet.host(t, { greeting: () => `421 4.3.2 not now, ${++refused}` }, 'many.example')
    const open = Promise.withResolvers<undefined>()
    const busy = await internet.host(t, { dot: () => open.promise }, 'many.example')
    t.teardown(() => open.resolve(undefined))
    const [closed, taken] = [internet.domain([away]), internet.domain([busy])]
    await sendMany(2, taken)
    await until('both to be in progress', () => busy.open === 2 || undefined)
    await sendMany(1, closed)
    await until(
      'it to be deferred',
      async () => {
        await raiseNow({ name: 'many' })
        const deferred = await service.sql`
        select 1 from delivery_queue where recipient_domain = ${closed} and state = 'deferred' and attempt > 0`
        return deferred.length === 1 || undefined
      },
      30_000,
    )
    t.ok(refused <= 12, `${refused} refused`)
  },
)

t.test(
  'mail to a site of a provider that is down takes no connection, and no session of its other sites ends for it',
  async (t) => {
    // Nobody listens at its address.
    const dead = { name: 'away.many.example' }
    internet.dns.zones[dead.name] = { a: [internet.newAddress()] }
    const busy = await internet.host(t, { dot: () => pause(20) }, 'many.example')
    const taken = internet.domain([busy])
    const away = internet.domain([dead])
    await sendMany(1, away)
    await until('the site to be down', async () => {
      const [row] =
        await service.sql`select 1 from attempts a join delivery_queue q using (message_id, recipient_no) where q.recipient_domain = ${away}`
      return row
    })
    await sendMany(300, taken, away)
    await until('all that can be delivered', () => busy.messages.length === 150 || undefined, 60_000)
    t.ok(busy.sessions <= 30, `150 messages took ${busy.sessions} sessions`)
  },
)

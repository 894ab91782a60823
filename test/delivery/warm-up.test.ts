import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { passTime } from '../helpers/pass-time.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { until } from '../helpers/until.ts'
import { startInternet } from './outbox.ts'
import { untilSourcesRead } from './sources-read.ts'

const FILE = join(t.testdir(), 'providers.yaml')
/** One provider per test: what one leaves in the queue is tried again while the clock of the next moves on. */
const PROVIDERS = ['harbour', 'quay', 'pier']
const providers = PROVIDERS.map((name) => `  - { name: ${name}, mx: [.${name}.example], connections: 10 }\n`)
writeFileSync(FILE, `providers:\n${providers.join('')}`)
const internet = await startInternet(t, { PROVIDERS_FILE: FILE })
const { service, sender } = internet
const { sources } = service.core
const HOUR = 60
/** Of the plan gentle, which allows an eighth of a day's messages per hour. */
const FIRST_DAY = 100
const FIRST_HOUR = Math.ceil(FIRST_DAY / 8)
const SECOND_HOUR = Math.ceil((FIRST_DAY * 1.25) / 8)

async function sendMany(count: number, domain: string): Promise<void> {
  const personalizations = Array.from({ length: count }, (_, at) => ({ recipient: `r${at}@${domain}` }))
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const { status } = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations }))
  if (status !== 200) throw new Error('not accepted')
}

async function warmUp(name: string, provider: string) {
  const warmUps = (await sources.read()).sources.find((one) => one.name === name)?.warmUps
  return warmUps?.find((one) => one.provider === provider)
}

/**
 * Waits until it is noted that the allowance of this hour is used up. When the last message of it has arrived, the next one may still be
 * asking for its turn: noted after the clock was moved on, its answer would end the allowance of the next hour.
 */
function untilSpent(name: string, provider: string) {
  return until('the allowance to be used up', async () => {
    const one = await warmUp(name, provider)
    return one?.isSpent && one
  })
}

/** With the source's allowance of that hour known to the worker. */
async function nextHour(): Promise<void> {
  await internet.advance(HOUR)
  // The process asks for a rate that was used up again after two seconds.
  passTime(2000)
  await untilSourcesRead(internet)
}

/** Begins with the first minute of a day, so that a test does not pass midnight. */
async function atMidnight(): Promise<void> {
  const [row] = await service.sql<{ left: number }[]>`
    select (extract(epoch from date_trunc('day',
    service_now() at time zone 'UTC') + interval '1 day' - service_now() at time zone 'UTC') / 60)::int + 1 as left`
  await internet.advance(row?.left ?? 0)
}

t.test('a new source sends as much as its plan allows; the others of the pool send the rest', async (t) => {
  await atMidnight()
  await sources.add({ name: 'old', address: '127.0.0.2', helo: 'old.example.com' })
  await sources.add({ name: 'new', address: '127.0.0.3', helo: 'new.example.com', warmUpPlan: 'gentle' })
  await untilSourcesRead(internet)
  const host = await internet.host(t, {}, 'harbour.example')
  const domain = internet.domain([host])
  await sendMany(100, domain)
  await until('all of it', () => host.messages.length === 100)
  const ofNew = () => host.messages.filter(({ client }) => client === '127.0.0.3').length
  t.equal(ofNew(), FIRST_HOUR, 'of about fifty')
  t.match(await untilSpent('new', 'harbour'), { day: 0 })
  const elsewhere = await internet.host(t)
  await sendMany(20, internet.domain([elsewhere]))
  await until('the mail to another host', () => elsewhere.messages.length === 20)
  t.ok(
    elsewhere.messages.some(({ client }) => client === '127.0.0.3'),
    'each provider has its own allowance',
  )
  await nextHour()
  await sendMany(100, domain)
  await until('all of it', () => host.messages.length === 200)
  t.equal(ofNew(), 2 * FIRST_HOUR, 'there is more in the next hour')
  for (const name of ['old', 'new']) await sources.remove(name)
})

t.test('what was taken of an allowance for mail that no server was offered is given back', async (t) => {
  await atMidnight()
  await sources.add({ name: 'back', address: '127.0.0.5', helo: 'back.example.com', warmUpPlan: 'gentle' })
  await untilSourcesRead(internet)
  const sites = Array.from({ length: 6 }, (_, at) => {
    // Nobody listens at its address.
    const dead = { name: `away-${at}.quay.example` }
    internet.dns.zones[dead.name] = { a: [internet.newAddress()] }
    return internet.domain([dead])
  })
  for (const domain of sites) await sendMany(1, domain)
  await until('all to be deferred', async () => {
    const rows = await service.sql`
      select 1 from delivery_queue where recipient_domain = any(${sites}::text[]) and state = 'deferred' and attempt > 0`
    return rows.length === sites.length || undefined
  })
  const host = await internet.host(t, {}, 'quay.example')
  await sendMany(2 * FIRST_HOUR, internet.domain([host]))
  await until('the whole allowance', () => host.messages.length >= FIRST_HOUR)
  await untilSpent('back', 'quay')
  t.equal(host.messages.length, FIRST_HOUR)
  await sources.remove('back')
})

t.test('without another source its mail waits, and says so; the next day there is more if all went well', async (t) => {
  await sources.add({ name: 'only', address: '127.0.0.4', helo: 'only.example.com', warmUpPlan: 'gentle' })
  await untilSourcesRead(internet)
  await atMidnight()
  const host = await internet.host(t, {}, 'pier.example')
  const domain = internet.domain([host])
  await sendMany(200, domain)
  const waiting = async () =>
    (await service.sql`select 1 from delivery_queue where place = 'pier@only' and worker_id is null`).length
  for (let hour = 1; hour < 9; hour++) {
    await until(`hour ${hour}`, () => host.messages.length >= Math.min(FIRST_DAY, hour * FIRST_HOUR), 30_000)
    await untilSpent('only', 'pier')
    await nextHour()
  }
  await until(
    'the rest to wait',
    async () => (await waiting()) === 100 || (host.messages.length > 100 ? true : undefined),
  )
  t.equal(host.messages.length, FIRST_DAY, 'no more on this day')
  await atMidnight()
  await until('the second day', async () => (await warmUp('only', 'pier'))?.day === 1, 20_000)
  // If mail of the day was sent before the plan went on, one message of the hour may have been taken at that moment, and not been sent.
  const isMore = () => host.messages.length >= FIRST_DAY + SECOND_HOUR - 1
  await until(`more than ${FIRST_HOUR} in an hour`, isMore, 30_000)
})

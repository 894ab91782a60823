import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLog, systemClock } from '@postrider/core'
import { startSandbox } from '@postrider/sandbox'
import t from 'tap'
import { startOutboxProcess } from '../delivery/outbox.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { until } from '../helpers/until.ts'

/** More than the pause of sandbox-throttling. */
const MINUTES = 2
const MESSAGES = 30

const FILE = join(t.testdir(), 'providers.yaml')
writeFileSync(
  FILE,
  `providers: [{ name: mine, mx: [rules.test], rules: [{ id: mine-tss04, reply: '[TSS04]', pause: 5m }] }]`,
)
const outbox = await startOutboxProcess(t, { DELIVERY: 'sandbox', PROVIDERS_FILE: FILE })
const { service, sender } = outbox
let movedMs = 0
const sandbox = await startSandbox(
  { config: service.config, log: createLog('test', 'silent') },
  { ...systemClock, monotonic: () => performance.now() + movedMs },
)
t.teardown(() => sandbox.close())

/** Moves the clocks of the service and of the sandbox. */
async function advance(minutes: number): Promise<void> {
  movedMs += minutes * 60_000
  await outbox.advance(minutes)
}

async function sendMany(recipientOf: (at: number) => string): Promise<string> {
  const personalizations = Array.from({ length: MESSAGES }, (_, at) => ({ recipient: recipientOf(at) }))
  const base = `http://127.0.0.1:${service.config.apiPort}`
  const { body } = await sendV2(base, sender.apiKey, v2Body(sender, { personalizations }))
  return body.data?.message_id as string
}

async function limitOf(place: string) {
  return (await service.core.deliveries.limits.overrides()).find((one) => one.place === place)
}

async function inState(id: string, state: string) {
  return (await outbox.story(id)).deliveries.filter((delivery) => delivery.state === state)
}

/** Waits until the provider is paused and what it has not been offered is parked. Returns the deliveries. */
async function paused(id: string) {
  return until('the pause', async () => {
    if (!(await limitOf('sandbox-throttling'))) return undefined
    const parked =
      await service.sql`select 1 from delivery_queue where place = 'sandbox-throttling' and state = 'queued'`
    const [delivered, deferred] = [await inState(id, 'delivered'), await inState(id, 'deferred')]
    return parked.length + delivered.length + deferred.length === MESSAGES && { delivered, deferred, parked }
  })
}

t.test(
  'throttling.test is paused when it asks for less mail, other mail is delivered, and then it is offered more',
  async (t) => {
    const id = await sendMany((at) => `r${at}@throttling.test`)
    const first = await paused(id)
    t.match(await limitOf('sandbox-throttling'), { setting: 'pause', rule: 'sandbox-tss04', reason: /\[TSS04\]/ })
    t.equal(first.delivered.length, 5)
    // Each of its two connections may carry one offer until the two refusals have been counted.
    t.ok(first.deferred.length >= 2 && first.deferred.length <= 4, `${first.deferred.length} refused`)
    const waiting = await inState(id, 'queued')
    t.equal(waiting.length, first.parked.length)
    t.ok(waiting.every(({ attempt, attempts }) => attempt === 0 && attempts.length === 0))

    await outbox.inState(await outbox.send('lena@harbor.example'), 'delivered')
    await outbox.inState(await outbox.send('lena@slow.test'), 'delivered')
    t.equal((await inState(id, 'delivered')).length, 5)

    await advance(MINUTES)
    await until('five more', async () => (await inState(id, 'delivered')).length === 10)
    const second = await paused(id)
    t.equal(second.delivered.length, 10)
  },
)

t.test('greylisting.test defers a message once, and neither pauses nor slows its provider', async (t) => {
  const id = await sendMany((at) => `r${at}@greylisting.test`)
  await until('the first attempts', async () => (await inState(id, 'deferred')).length === MESSAGES)
  await advance(MINUTES)
  await until('the second attempts', async () => (await inState(id, 'delivered')).length === MESSAGES)
  t.equal(await limitOf('sandbox-greylisting'), undefined)
})

t.test('what a recipient of any other domain refuses slows no other mail of the sandbox', async (t) => {
  const id = await sendMany((at) => `throttle@quay${at}.example`)
  await until('the refusals', async () => (await inState(id, 'deferred')).length === MESSAGES)
  t.equal(await limitOf('sandbox'), undefined)
  await outbox.inState(await outbox.send('piet@harbor.example'), 'delivered')
})

t.test("a domain that an operator's file lists as a mail server is a provider with its own rules", async (t) => {
  await outbox.send('throttle@rules.test')
  t.match(await until('the pause', () => limitOf('mine')), { setting: 'pause', rule: 'mine-tss04' })
})

t.test('slow.test has one connection, and what waits for it leaves capacity to other mail', async (t) => {
  await sendMany((at) => `r${at}@slow.test`)
  await until('mail to wait in the database', async () => {
    const parked = await service.sql<{ waiting: string }[]>`
      select waiting_for as waiting from delivery_queue where place = 'sandbox-slow'`
    return parked.length >= MESSAGES / 2 && parked.every(({ waiting }) => waiting === 'connections')
  })
  await outbox.inState(await outbox.send('nora@harbor.example'), 'delivered')
  t.pass('delivered in the meantime')
})

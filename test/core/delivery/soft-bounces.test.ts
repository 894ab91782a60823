import { type Bounced, createCore, createLog, type Outcome } from '@postrider/core'
import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { BOUNCED, DELIVERED, makeQueue, type TestQueue } from './queue-of.ts'

const FULL: Bounced = { ...(BOUNCED as Bounced), reply: { code: 552, enhanced: '5.2.2', text: '5.2.2 mailbox full' } }
const SPAM: Bounced = {
  ...(BOUNCED as Bounced),
  stage: 'dot',
  reply: { code: 554, enhanced: '5.7.1', text: '5.7.1 spam message rejected' },
}
const TO = 'lena@harbor.example'

/** On each day the outcomes of the deliveries to one address; a day is counted from the first. */
async function live(queue: TestQueue, days: Readonly<Record<number, readonly Outcome[]>>): Promise<void> {
  const { core, service, accept, claimAll } = queue
  for (const [day, outcomes] of Object.entries(days)) {
    await moveClock(service.sql, `${day} days`)
    const workerId = await queue.register()
    for (const outcome of outcomes) {
      await accept([TO])
      const claimed = await claimAll(workerId)
      await core.deliveries.record(claimed.map((key) => ({ ...key, workerId, outcome })))
    }
  }
}

const stored = ({ service, sender }: TestQueue) =>
  service.sql`
    select value, reason, round(extract(epoch from held_until - service_now()) / 86400)::int as days from suppressions
     where account_id = ${sender.accountId}`

for (const [what, days, suppressed] of [
  ['on three days suppress the address for 90 days', { 0: [FULL], 1: [FULL], 9: [FULL] }, true],
  ['on two days do not, however many', { 0: [FULL, FULL, FULL], 1: [FULL, FULL] }, false],
  ['of more than thirty days ago do not count', { 0: [FULL], 31: [FULL], 32: [FULL] }, false],
  ['before a delivery do not count', { 0: [FULL], 1: [FULL], 2: [DELIVERED], 3: [FULL], 4: [FULL] }, false],
  ['after a delivery count', { 0: [DELIVERED], 1: [FULL], 2: [FULL], 3: [FULL] }, true],
  ['of other classes do not count', { 0: [SPAM], 1: [SPAM], 2: [SPAM], 3: [SPAM] }, false],
] as const) {
  t.test(`soft bounces ${what}`, async (t) => {
    const queue = await makeQueue(t)
    await live(queue, days)
    t.strictSame([...(await stored(queue))], suppressed ? [{ value: TO, reason: 'hardbounce', days: 90 }] : [])
  })
}

t.test('soft bounces at other accounts, and those of an erased recipient, do not count', async (t) => {
  const queue = await makeQueue(t)
  await live(queue, { 0: [FULL], 1: [FULL] })
  const other = await queue.service.makeSender()
  await queue.service.sql`update finished_deliveries set account_id = ${other.accountId}`
  await live(queue, { 2: [FULL] })
  t.strictSame([...(await stored(queue))], [])
})

t.test('an entry of the account is kept', async (t) => {
  const queue = await makeQueue(t)
  const { core, sender } = queue
  await live(queue, { 0: [FULL], 1: [FULL] })
  const workerId = await queue.register()
  await queue.accept([TO])
  const claimed = await queue.claimAll(workerId)
  await core.suppressions.add({ accountId: sender.accountId, scope: 'address', value: TO, reason: 'manual' })
  await moveClock(queue.service.sql, '2 days')
  await core.deliveries.record(claimed.map((key) => ({ ...key, workerId, outcome: FULL })))
  t.match([...(await stored(queue))], [{ reason: 'manual', days: null }])
})

t.test('of the addresses of one batch, twenty are looked at, and the others when they next bounce', async (t) => {
  const queue = await makeQueue(t)
  const { core, service, accept, claimAll } = queue
  const to = Array.from({ length: 25 }, (_, at) => `r${at}@harbor.example`)
  const counts: number[] = []
  for (const day of [0, 1, 2, 3]) {
    await moveClock(service.sql, `${day} days`)
    const workerId = await queue.register()
    await accept(to)
    const claimed = await claimAll(workerId)
    // Those that were looked at last are first the next time.
    const results = day === 3 ? claimed.toReversed() : claimed
    await core.deliveries.record(results.map((key) => ({ ...key, workerId, outcome: FULL })))
    counts.push((await stored(queue)).length)
  }
  t.strictSame(counts, [0, 0, 20, 25])
})

t.test('a failure of the rule is logged, and the outcomes are recorded', async (t) => {
  const queue = await makeQueue(t)
  const { service, accept, claimAll } = queue
  const lines: unknown[][] = []
  const log = createLog('test', 'silent')
  log.warn = (...line: unknown[]) => void lines.push(line)
  const core = createCore({ sql: service.sql, config: service.config, log })
  t.teardown(() => core.readiness.close())
  const workerId = await queue.register()
  const id = await accept([TO])
  const claimed = await claimAll(workerId)
  await service.sql`alter table suppressions rename to moved`
  const recorded = await core.deliveries.record(claimed.map((key) => ({ ...key, workerId, outcome: FULL })))
  await service.sql`alter table moved rename to suppressions`
  t.strictSame(recorded, [true])
  t.equal((await core.messages.show(id))?.deliveries[0]?.state, 'bounced')
  t.match(lines, [[{ deliveries: 1, err: { code: '42P01' } }, 'could not apply the rule for soft bounces']])
  t.equal(lines.length, 1)
})

t.test('an address with two hundred deliveries is not that of a person', async (t) => {
  const queue = await makeQueue(t)
  await live(queue, { 0: [FULL], 1: [FULL] })
  await queue.service.sql`
    insert into finished_deliveries
    select (jsonb_populate_record(null::finished_deliveries, to_jsonb(f) || jsonb_build_object('message_id', uuidv7(), 'state', 'expired'))).*
      from (select * from finished_deliveries limit 1) f, generate_series(1, 197)`
  await live(queue, { 2: [FULL] })
  t.strictSame([...(await stored(queue))], [])
})

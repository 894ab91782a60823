import t from 'tap'
import { verifyData } from '../../../packages/core/src/retention/verify-data.ts'
import { moveClock } from '../../helpers/database.ts'
import { numberEvents } from '../../helpers/number-events.ts'
import { makeService, type Sender } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { openWorker } from '../../helpers/worker.ts'
import { acceptMessage } from '../submission.ts'

const OPERATOR = { keyId: null, address: null }
const service = await makeService(t)
const { sql, core } = service

/** All turns come at once; the clock of the test before was ahead. */
async function shorten(): Promise<void> {
  await sql`update retention_turns set turn_at = '-infinity'`
  await sql`update retention_cursors set due_at = '-infinity'`
  while (await core.retention.shortenSome());
}
async function deliver({ accountId }: Sender): Promise<void> {
  await sql`delete from delivery_queue where account_id = ${accountId}`
}
async function bodiesOf({ accountId }: Sender): Promise<number> {
  const [row] =
    await sql`select count(*)::int from bodies b join messages m on m.id = b.message_id where m.account_id = ${accountId}`
  return row?.count
}
async function numbersOf({ accountId }: Sender): Promise<number[]> {
  const numbers: number[] = []
  for (let after = 0; ; ) {
    const page = await core.events.read({ accountId, after, limit: 1000 })
    if (page.next === after) return numbers
    numbers.push(...page.events.map(({ number }) => number))
    after = page.next
  }
}
async function add({ accountId }: Sender, count: number, weeksAgo = 0): Promise<void> {
  await sql`insert into events (occurred_at, account_id, type)
            select service_now() - make_interval(days => ${weeksAgo * 7}), ${accountId}, 'domain' from generate_series(1, ${count})`
  await numberEvents(service)
}
/** Of what `postrider backup verify` finds. */
async function gaps(): Promise<string[]> {
  const { problems } = await verifyData(sql)
  return problems.filter((problem) => problem.includes('gaps'))
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

t.test('bodies of an account with a shorter retention are deleted after its days, and no others', async (t) => {
  const [short, other] = [await service.makeSender(), await service.makeSender()]
  t.teardown(() => moveClock(sql, '0'))
  await core.accounts.settings.change(short.accountId, { bodyDays: 2 }, OPERATOR)
  for (const sender of [short, short, other]) await acceptMessage(service, sender, {})
  await deliver(short)
  await deliver(other)
  const { messageId } = await acceptMessage(service, short, {})
  await numberEvents(service)
  await moveClock(sql, '47 hours')
  await shorten()
  t.equal(await bodiesOf(short), 3)
  await moveClock(sql, '49 hours')
  await shorten()
  t.equal(await bodiesOf(short), 1, 'what waits keeps its body')
  t.ok((await core.messages.load([messageId])).size === 1)
  t.equal(await bodiesOf(other), 1)
  t.ok(await core.messages.show(messageId), 'messages stay')
})

t.test('the body of a message whose recipients were all refused goes after its days, too', async (t) => {
  const sender = await service.makeSender()
  t.teardown(() => moveClock(sql, '0'))
  await core.accounts.settings.change(sender.accountId, { bodyDays: 1 }, OPERATOR)
  await core.suppressions.addAll({ accountId: sender.accountId, emails: ['lena@harbor.example'], reason: 'manual' })
  await acceptMessage(service, sender, {})
  await numberEvents(service)
  t.equal(await bodiesOf(sender), 1)
  await moveClock(sql, '25 hours')
  await shorten()
  t.equal(await bodiesOf(sender), 0)
})

t.test('events of an account that keeps them for less go by weeks, and the others keep their numbers', async (t) => {
  const [short, other] = [await service.makeSender(), await service.makeSender()]
  t.teardown(() => moveClock(sql, '0'))
  await numberEvents(service)
  const [base, otherBase] = [
    await core.events.lastNumber(short.accountId),
    await core.events.lastNumber(other.accountId),
  ]
  await core.accounts.settings.change(short.accountId, { eventDays: 7 }, OPERATOR)
  await sql`select ensure_partitions(service_now() - interval '35 days', 5)`
  // Weeks in no order, as transactions that commit late would leave them. On each day of a week, those of two weeks ago and more have expired.
  for (const [count, weeks] of [
    [1200, 3],
    [10, 1],
    [1300, 2],
    [20, 0],
    [5, 3],
  ] as const) {
    await add(short, count, weeks)
    await add(other, count, weeks)
  }
  await shorten()
  const kept = [...range(base + 1201, base + 1210), ...range(base + 2511, base + 2530)]
  t.strictSame(
    (await numbersOf(short)).filter((number) => number > base),
    kept,
    'those of the last weeks',
  )
  t.equal(await core.events.lastNumber(short.accountId), base + 2535, 'an account’s last page stays')
  t.strictSame(await gaps(), [], 'and that is no fault of the data')
  await add(short, 3)
  t.strictSame((await numbersOf(short)).slice(-3), range(base + 2536, base + 2538))
  t.equal((await numbersOf(other)).length, otherBase + 2535)
  await moveClock(sql, '30 days')
  await shorten()
  t.strictSame(await numbersOf(short), [])
  const [left] = await sql`select count(*)::int from events where account_id = ${short.accountId}`
  t.equal(left?.count, 0)
  t.equal(await core.events.lastNumber(short.accountId), base + 2538)
  const [pages] = await sql`select count(*)::int from event_pages where account_id = ${short.accountId}`
  t.equal(pages?.count, 1)
})

t.test('many at once, and one that is killed, clear away the same', async (t) => {
  const sender = await service.makeSender()
  t.teardown(() => moveClock(sql, '0'))
  await core.accounts.settings.change(sender.accountId, { eventDays: 7, bodyDays: 1 }, OPERATOR)
  for (let round = 0; round < 30; round++) await acceptMessage(service, sender, {})
  await deliver(sender)
  await add(sender, 4000)
  await moveClock(sql, '20 days')
  await Promise.all(Array.from({ length: 8 }, shorten))
  t.equal(await bodiesOf(sender), 0)
  t.strictSame(await numbersOf(sender), [])
})

t.test('a delivery worker does it', async (t) => {
  const sender = await service.makeSender()
  t.teardown(() => moveClock(sql, '0'))
  await core.accounts.settings.change(sender.accountId, { bodyDays: 1 }, OPERATOR)
  await sql`select ensure_partitions('2025-06-04', 0)`
  await acceptMessage(service, sender, {})
  await deliver(sender)
  await numberEvents(service)
  await moveClock(sql, '2 days')
  await sql`update retention_turns set turn_at = '-infinity'`
  const worker = await openWorker(t, service)
  await until('the body to go', async () => (await bodiesOf(sender)) === 0)
  await until('the old partitions to go', () => worker.log.some(({ msg }) => msg === 'expired partitions dropped'))
  const [old] = await sql`select to_regclass('messages_2025w23') is null as gone`
  t.ok(old?.gone)
})

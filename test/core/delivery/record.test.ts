import { type ClaimedDelivery, isDatabaseAway, type Outcome, type Result } from '@postrider/core'
import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { startLossyProxy } from './lossy-proxy.ts'
import {
  BOUNCED,
  DEFERRED,
  DELIVERED,
  DROPPED,
  INDETERMINATE,
  makeQueue,
  openCore,
  recipients,
  type TestQueue,
} from './queue-of.ts'

/** A message to so many recipients, all of them in one worker's hands. */
async function makeHand(queue: TestQueue, count: number) {
  const messageId = await queue.accept(recipients(count))
  const workerId = await queue.register()
  const claimed = (await queue.claimAll(workerId)).sort((a, b) => a.recipientNo - b.recipientNo)
  return { messageId, workerId, claimed }
}

function resultOf(claimed: ClaimedDelivery | undefined, workerId: number, outcome: Outcome): Result {
  if (!claimed) throw new Error('nothing was claimed')
  const { messageId, recipientNo, attempt } = claimed
  return { messageId, recipientNo, attempt, workerId, outcome }
}

/** Rows of everything an outcome writes. */
async function countRows({ service: { sql } }: TestQueue): Promise<Record<string, number>> {
  const [row] = await sql<Record<string, number>[]>`
    select (select count(*)::int from delivery_queue) as queued, (select count(*)::int from finished_deliveries) as finished,
           (select count(*)::int from attempts) as attempts,
           (select count(*)::int from events where type not in ('processed', 'domain')) as events`
  return { ...row }
}

/** Each outcome: the state it leads to, its event, and the number of attempts that are kept. */
const OUTCOMES: readonly (readonly [outcome: Outcome, state: string, event: object, attempts: readonly object[]])[] = [
  [
    DELIVERED,
    'delivered',
    { type: 'sent', detail: { attempt: 1, host: 'mx1.harbor.example', code: 250, enhanced: '2.0.0', reply: 'taken' } },
    [{ outcome: 'delivered', indeterminate: false, stage: 'dot', address: '192.0.2.1', code: 250 }],
  ],
  [
    BOUNCED,
    'bounced',
    { type: 'bounced', detail: { attempt: 1, code: 550, class: 'bad-mailbox', reply: 'no such user here' } },
    [{ outcome: 'bounced', indeterminate: false, stage: 'rcpt', code: 550, enhanced: '5.1.1' }],
  ],
  [
    DEFERRED,
    'deferred',
    { type: 'deferred', detail: { attempt: 1, code: 451, nextAt: String } },
    [{ outcome: 'deferred', indeterminate: false, stage: 'rcpt', code: 451 }],
  ],
  [
    INDETERMINATE,
    'deferred',
    { type: 'deferred', detail: { attempt: 1, indeterminate: true, nextAt: String } },
    [{ outcome: 'deferred', indeterminate: true, stage: 'dot', code: null }],
  ],
  [DROPPED, 'dropped', { type: 'dropped', detail: { reason: 'unsubscribe' } }, []],
]

t.test('outcomes of one batch are recorded in one transaction, each with its state, attempt and event', async (t) => {
  const queue = await makeQueue(t)
  const { core, service } = queue
  const { messageId, workerId, claimed } = await makeHand(queue, OUTCOMES.length)
  const results = OUTCOMES.map(([outcome], at) => resultOf(claimed[at], workerId, outcome))
  t.strictSame(
    await core.deliveries.record(results),
    OUTCOMES.map(() => true),
  )

  const story = await core.messages.show(messageId)
  for (const [at, [outcome, state, event, attempts]] of OUTCOMES.entries()) {
    const delivery = story?.deliveries[at]
    t.equal(delivery?.state, state)
    t.match(delivery?.attempts, attempts, `the attempt of ${outcome.kind}`)
    t.equal(delivery?.attempts.length, attempts.length)
    const events = story?.events.filter(({ recipientNo, type }) => recipientNo === at && type !== 'processed')
    t.match(events, [event], `the event of ${outcome.kind}`)
    t.equal(events?.length, 1)
    t.equal(delivery?.finishedAt === null, state === 'deferred', 'only a final state has an end')
  }
  const left = await service.sql`
    select recipient_no, worker_id, dot_at from delivery_queue order by recipient_no`
  t.match(left, [
    { recipient_no: 2, worker_id: null, dot_at: null },
    { recipient_no: 3, worker_id: null, dot_at: null },
  ])
  const transactions = await service.sql`
    select xmin::text from finished_deliveries union select xmin::text from attempts
     union select xmin::text from events where type not in ('processed', 'domain')
     union select xmin::text from delivery_queue`
  t.equal(transactions.length, 1, 'all of it by one transaction')
})

t.test(
  'a result with a stale attempt number or lease is refused and changes nothing; its neighbours are taken',
  async (t) => {
    const queue = await makeQueue(t)
    const { workerId, claimed } = await makeHand(queue, 3)
    const other = await queue.register()
    const [first, second, third] = claimed.map((one) => resultOf(one, workerId, DELIVERED))
    if (!first || !second || !third) throw new Error('nothing was claimed')
    const stale: readonly Result[] = [
      { ...second, attempt: 0 },
      { ...second, attempt: 2 },
      { ...second, workerId: other },
      { ...second, recipientNo: 3 },
      { ...second, messageId: '01980000-0000-7000-8000-000000000000' },
    ]
    for (const result of stale) t.strictSame(await queue.core.deliveries.record([result]), [false])
    t.strictSame(await countRows(queue), { queued: 3, finished: 0, attempts: 0, events: 0 })

    const batch = [first, ...stale, third]
    t.strictSame(
      await queue.core.deliveries.record(batch),
      batch.map((result) => result === first || result === third),
    )
    t.strictSame(await countRows(queue), { queued: 1, finished: 2, attempts: 2, events: 2 })
    t.strictSame(await queue.core.deliveries.record([second]), [true], 'the right one is still welcome')
  },
)

t.test('after another worker has taken over, the first one has nothing to say', async (t) => {
  const queue = await makeQueue(t)
  const { workerId, claimed } = await makeHand(queue, 1)
  const other = await queue.register()
  await queue.core.deliveries.release(workerId, claimed, 0)
  const again = await queue.claimAll(other)
  t.match(again, [{ attempt: 1 }], 'the attempt did not count, so its number is the same')
  t.strictSame(await queue.core.deliveries.record([resultOf(claimed[0], workerId, BOUNCED)]), [false])
  t.strictSame(await queue.core.deliveries.record([resultOf(again[0], other, DELIVERED)]), [true])
  t.strictSame(await countRows(queue), { queued: 0, finished: 1, attempts: 1, events: 1 })
})

t.test('a result that is recorded twice counts once, one after the other or at once', async (t) => {
  const queue = await makeQueue(t)
  const { workerId, claimed } = await makeHand(queue, 2)
  const [once, atOnce] = claimed.map((one) => resultOf(one, workerId, DELIVERED))
  if (!once || !atOnce) throw new Error('nothing was claimed')
  t.strictSame(await queue.core.deliveries.record([once]), [true])
  t.strictSame(await queue.core.deliveries.record([once]), [false])
  const core = openCore(t, queue.service, 8)
  const answers = await Promise.all(Array.from({ length: 8 }, () => core.deliveries.record([atOnce])))
  t.equal(answers.filter(([taken]) => taken).length, 1)
  t.strictSame(await countRows(queue), { queued: 0, finished: 2, attempts: 2, events: 2 })
})

t.test('a result whose answer was lost with the connection is recorded, and may be sent again', async (t) => {
  const queue = await makeQueue(t)
  const { messageId, workerId, claimed } = await makeHand(queue, 3)
  const [warm, ...lost] = claimed.map((one) => resultOf(one, workerId, DELIVERED))
  if (!warm) throw new Error('nothing was claimed')
  const proxy = await startLossyProxy(t, queue.service.env.DATABASE_URL as string)
  const behind = openCore(t, queue.service, 1, proxy.url)
  // Prepares the statement, so that the next time it is one question and one answer.
  await behind.deliveries.record([warm])
  proxy.loseNextAnswer()
  t.ok(isDatabaseAway(await behind.deliveries.record(lost).catch((error: unknown) => error)))
  t.strictSame(await behind.deliveries.record(lost), [false, false])
  t.strictSame(await countRows(queue), { queued: 0, finished: 3, attempts: 3, events: 3 })
  const story = await queue.core.messages.show(messageId)
  t.ok(story?.deliveries.every(({ state }) => state === 'delivered'))
})

t.test('one result the database cannot take keeps its whole batch out, half of it never', async (t) => {
  const queue = await makeQueue(t)
  const { workerId, claimed } = await makeHand(queue, 3)
  const results = claimed.map((one) => resultOf(one, workerId, DELIVERED))
  const bad: Outcome = { ...DELIVERED, reply: { code: 99_999, enhanced: '', text: 'beyond any code' } } as Outcome
  const batch = results.map((result, at) => (at === 1 ? { ...result, outcome: bad } : result))
  await t.rejects(queue.core.deliveries.record(batch), { code: '22003' })
  t.strictSame(await countRows(queue), { queued: 3, finished: 0, attempts: 0, events: 0 })
})

t.test('after an indeterminate attempt only the same host may be asked, and not before five minutes', async (t) => {
  const queue = await makeQueue(t)
  const { workerId, claimed } = await makeHand(queue, 1)
  await queue.core.deliveries.record([resultOf(claimed[0], workerId, INDETERMINATE)])
  await moveClock(queue.service.sql, '4 minutes 55 seconds')
  t.strictSame([...(await queue.claimAll(workerId))], [])
  await moveClock(queue.service.sql, '5 minutes 5 seconds')
  const again = await queue.claimAll(workerId)
  t.match(again, [{ attempt: 2, onlyHost: 'mx1.harbor.example' }])

  await queue.core.deliveries.record([resultOf(again[0], workerId, DEFERRED)])
  await moveClock(queue.service.sql, '20 minutes')
  t.match(await queue.claimAll(workerId), [{ attempt: 3, onlyHost: null }], 'a plain no frees it again')
})

t.test('the last attempt falls on the deadline, and a deferral after it is final', async (t) => {
  const queue = await makeQueue(t)
  const { messageId, workerId, claimed } = await makeHand(queue, 1)
  const delivery = async () => (await queue.core.messages.show(messageId))?.deliveries[0]
  await queue.core.deliveries.record([resultOf(claimed[0], workerId, DEFERRED)])
  await moveClock(queue.service.sql, '71 hours 59 minutes')
  const again = await queue.claimAll(workerId)
  // Four hours is the most a server may ask for; the deadline comes first.
  const patient: Outcome = { ...DEFERRED, reply: { code: 451, enhanced: '', text: 'try again in 4 hours' } } as Outcome
  await queue.core.deliveries.record([resultOf(again[0], workerId, patient)])
  const waiting = await delivery()
  t.equal(waiting?.state, 'deferred')
  t.strictSame(waiting?.nextAt, waiting?.expiresAt)

  await moveClock(queue.service.sql, '72 hours 1 minute')
  const last = await queue.claimAll(workerId)
  await queue.core.deliveries.record([resultOf(last[0], workerId, DEFERRED)])
  t.match(await delivery(), { state: 'expired', attempt: 3, nextAt: null, finishedAt: Date })
  const { events } = (await queue.core.messages.show(messageId)) ?? { events: [] }
  t.strictSame(
    events.map(({ type }) => type),
    ['processed', 'deferred', 'deferred', 'expired'],
  )
  t.strictSame(await countRows(queue), { queued: 0, finished: 1, attempts: 3, events: 3 })
})

t.test('a delivery on its last attempt that succeeds after the deadline is delivered', async (t) => {
  const queue = await makeQueue(t)
  const { messageId, workerId, claimed } = await makeHand(queue, 1)
  await moveClock(queue.service.sql, '73 hours')
  await queue.core.deliveries.record([resultOf(claimed[0], workerId, DELIVERED)])
  t.match(await queue.core.messages.show(messageId), { deliveries: [{ state: 'delivered' }] })
})

t.test(
  'outcomes are recorded in a week for which no partition was made: all processes were stopped for too long',
  async (t) => {
    const queue = await makeQueue(t)
    const { core, service } = queue
    const { messageId, workerId, claimed } = await makeHand(queue, 2)
    await service.sql.unsafe(
      `create or replace function service_now() returns timestamptz language sql stable as 'select now() + interval ''1 year'''`,
    )
    const results = [resultOf(claimed[0], workerId, DELIVERED), resultOf(claimed[1], workerId, BOUNCED)]
    t.strictSame(await core.deliveries.record(results), [true, true])
    t.match(await core.messages.show(messageId), { deliveries: [{ state: 'delivered' }, { state: 'bounced' }] })
  },
)

t.test('whatever a receiver says is stored, in a form that fits', async (t) => {
  const queue = await makeQueue(t)
  const { messageId, workerId, claimed } = await makeHand(queue, 2)
  const odd = 'a\0b\ud83d'
  const outcome: Outcome = {
    kind: 'delivered',
    stage: 'dot',
    host: odd,
    reply: { code: 250, enhanced: '2.0.0', text: odd },
    steps: [{ step: 'dot', ms: 1, text: odd }],
    milliseconds: 2 ** 40,
  }
  const results = [outcome, { kind: 'dropped', reason: 'rendering', problem: odd } as const]
  t.strictSame(await queue.core.deliveries.record(results.map((one, at) => resultOf(claimed[at], workerId, one))), [
    true,
    true,
  ])
  const story = await queue.core.messages.show(messageId)
  const text = 'a b\ufffd'
  t.match(story?.deliveries[0]?.attempts, [
    { host: text, reply: text, milliseconds: 2 ** 31 - 1, conversation: [{ text }] },
  ])
  t.match(
    story?.events.filter(({ type }) => type !== 'processed'),
    [{ detail: { host: text, reply: text } }, { detail: { problem: text } }],
  )
})

import { NORMAL, URGENT } from '@postrider/core'
import t from 'tap'
import {
  ASKED_WAIT,
  JITTER,
  RETRY_MINUTES,
  retryAfterOf,
  retryDelay,
  URGENT_RETRY_SECONDS,
} from '../../packages/core/src/delivery/outcomes/schedule.ts'
import { processorTimeOf } from '../helpers/pace.ts'
import { startSink } from '../helpers/sink.ts'
import { startOutbox } from './outbox.ts'

t.test('retries come after 1, 5, 15 and 30 minutes and then ever later, up to four hours', async (t) => {
  t.strictSame(RETRY_MINUTES.slice(0, 4), [1, 5, 15, 30])
  t.strictSame(
    RETRY_MINUTES,
    [...RETRY_MINUTES].sort((a, b) => a - b),
  )
  t.equal(RETRY_MINUTES.at(-1), 240)
  for (let attempt = 1; attempt <= 40; attempt++) {
    const minutes = RETRY_MINUTES[attempt - 1] ?? 240
    t.equal(retryDelay(NORMAL, attempt, '', 0.5), minutes * 60)
  }
})

t.test('retries of urgent mail come after 10 and 30 seconds, then 1, 2, 3 and 5 minutes', async (t) => {
  t.strictSame(URGENT_RETRY_SECONDS, [10, 30, 60, 120, 180, 300])
  for (let attempt = 1; attempt <= 10; attempt++)
    t.equal(retryDelay(URGENT, attempt, '', 0.5), URGENT_RETRY_SECONDS[attempt - 1] ?? 300)
  t.equal(retryDelay(URGENT, 1, 'try again in 90 seconds', 0.5), 90, 'but what the server asks for counts')
})

t.test('each wait is longer or shorter by up to a fifth', async (t) => {
  t.equal(JITTER, 0.2)
  for (let attempt = 1; attempt <= 10; attempt++) {
    const seconds = (RETRY_MINUTES[attempt - 1] ?? 240) * 60
    t.equal(retryDelay(NORMAL, attempt, '', 0), Math.round(seconds * 0.8))
    t.equal(retryDelay(NORMAL, attempt, '', 1 - Number.EPSILON), Math.round(seconds * 1.2))
  }
})

t.test('after five attempts a server may ask for a longer wait only', async (t) => {
  for (let attempt = 1; attempt <= 5; attempt++)
    t.equal(retryDelay(NORMAL, attempt, 'try again in 40 seconds', 0.5), 40)
  for (const attempt of [6, 7, 100]) {
    t.equal(retryDelay(NORMAL, attempt, 'try again in 40 seconds', 0.5), retryDelay(NORMAL, attempt, '', 0.5))
    t.equal(retryDelay(NORMAL, attempt, 'try again in 4 hours', 0.5), 4 * 3600)
  }
})

const ASKED: Readonly<Record<string, number | undefined>> = {
  'Greylisted, please try again in 300 seconds': 300,
  'Recipient address rejected: Greylisted for 5 minutes': 300,
  'Greylisting in action, please come back in 00:04:59': 299,
  'You are greylisted for 240 sec.': 240,
  '[GREYLIST] temporarily blocked, retry in 60s': 60,
  'Try again after 10 min': 600,
  'Please retry after 120 seconds.': 120,
  'please try again in 5m': 300,
  'come back in 2 hours': 7200,
  'please wait 90 seconds before you send again': 90,
  'Message delayed for 45 seconds': 45,
  'try again in at least 4 minutes': 240,
  'Wait for about 15 minutes': 900,
  'TRY AGAIN IN 1 HOUR': 3600,
  'try again in 1 second': ASKED_WAIT.least,
  'try again in 0 seconds': ASKED_WAIT.least,
  'come back in 00:00:01': ASKED_WAIT.least,
  'try again in 12 hours': ASKED_WAIT.most,
  'try again in 999999 hours': ASKED_WAIT.most,
  'retry in 99:59:59': ASKED_WAIT.most,
  'try again in 99999999999999999999 seconds': undefined,
  'try again in -5 minutes': undefined,
  'Temporarily rejected. Try again later.': undefined,
  'Greylisted, see http://postgrey.example/help/harbor.example.html': undefined,
  'limit is 100 messages per 5 minutes': undefined,
  'try again in 5 days': undefined,
  '': undefined,
}

for (const [reply, seconds] of Object.entries(ASKED)) {
  t.test(`"${reply}" asks for ${seconds === undefined ? 'nothing' : `${seconds} s`}`, async (t) => {
    t.equal(retryAfterOf(reply), seconds)
    t.equal(retryDelay(NORMAL, 3, reply, 0.5), seconds ?? 900)
  })
}

t.test('looking for such words in hostile text takes no time', async (t) => {
  for (const piece of [
    'greylist ',
    'greylist:',
    'try again ',
    'wait for ',
    'try again in at least ',
    '1',
    ' ',
    'wait ',
  ]) {
    const took = await processorTimeOf(() => retryAfterOf(piece.repeat(100_000 / piece.length)))
    t.ok(took < 1000, JSON.stringify(piece))
  }
})

const sink = await startSink(t, {
  rcpt: ({ command }) => {
    if (command.includes('<asks@')) return '451 4.7.1 Greylisted, please try again in 1000 seconds'
    return command.includes('<never@') ? '451 4.3.0 not now' : undefined
  },
})
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })

t.test('the wait a reply asks for is the wait', async (t) => {
  const id = await outbox.send('asks@harbor.example')
  await outbox.inState(id, 'deferred')
  const [row] = await outbox.service.sql<{ wait: number }[]>`
    select extract(epoch from next_at - service_now())::float8 as wait from delivery_queue where message_id = ${id}::uuid`
  t.ok(row && row.wait > 960 && row.wait <= 1000, `${row?.wait}`)
})

t.test('what is still deferred after 72 hours is expired, with an event, and never before', async (t) => {
  const id = await outbox.send('never@harbor.example')
  const first = await outbox.inState(id, 'deferred')
  await outbox.advance(71.5 * 60)
  const second = await outbox.attempted(id, 2)
  t.equal(second.state, 'deferred')
  t.ok(
    second.nextAt && first.expiresAt && second.nextAt <= first.expiresAt,
    'the last attempt is not after the deadline',
  )
  await outbox.advance(60)
  const last = await outbox.inState(id, 'expired')
  t.equal(last.attempts.length, 3)
  t.match(last.attempts, [{ outcome: 'deferred' }, { outcome: 'deferred' }, { outcome: 'deferred', code: 451 }])
  const { events } = await outbox.story(id)
  t.strictSame(
    events.map(({ type }) => type),
    ['processed', 'deferred', 'deferred', 'expired'],
  )
  t.match(events.at(-1)?.detail, { attempt: 3, code: 451, reply: 'not now' })
  await outbox.advance(24 * 60)
  await outbox.inState(await outbox.send('fine@harbor.example'), 'delivered')
  t.equal((await outbox.story(id)).deliveries[0]?.attempts.length, 3, 'and is left alone')
})

t.test('no reply takes long to be read for a wait', async (t) => {
  const began = process.cpuUsage()
  for (const word of ['greylist', 'graylisted ', 'try again in 1', 'wait for ', 'come back in 0']) {
    for (let round = 0; round < 50; round++) retryAfterOf(word.repeat(1024 / word.length))
  }
  const { user, system } = process.cpuUsage(began)
  t.ok((user + system) / 1000 < 150, `${(user + system) / 1000} ms`)
})

import type { Outcome } from '@postrider/core'
import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { INDETERMINATE, makeQueue, recipients, type TestQueue } from './queue-of.ts'

const SITE = 'mx1.harbor.example'
const AWAY: Outcome = {
  kind: 'deferred',
  indeterminate: false,
  stage: 'connect',
  host: SITE,
  reply: { code: 0, enhanced: '4.4.1', text: 'ECONNREFUSED' },
  steps: [],
  milliseconds: 3,
}

/** Claims all that is due and records this outcome of it. */
async function tryAll({ core, claimAll }: TestQueue, workerId: number, outcome: Outcome): Promise<void> {
  const claimed = await claimAll(workerId)
  await core.deliveries.record(claimed.map((one) => ({ ...one, workerId, outcome, place: SITE })))
}

const wake = ({ core }: TestQueue, most = 100) => core.deliveries.wakeUnreached([{ place: SITE, most }])

t.test('mail that only one host may be offered waits for its time, although another host takes mail', async (t) => {
  const queue = await makeQueue(t)
  const workerId = await queue.register()
  await queue.accept(recipients(2))
  await tryAll(queue, workerId, INDETERMINATE)
  await moveClock(queue.service.sql, '6 minutes')
  await tryAll(queue, workerId, AWAY)
  t.equal(await wake(queue), 0)
  await queue.accept(recipients(3))
  await tryAll(queue, workerId, AWAY)
  t.equal(await wake(queue), 3, 'other mail is due')
})

t.test('what was claimed again since waits for what that claim has led to', async (t) => {
  const queue = await makeQueue(t)
  const { core } = queue
  const workerId = await queue.register()
  await queue.accept(recipients(2))
  await tryAll(queue, workerId, AWAY)
  await moveClock(queue.service.sql, '1 hour')
  const claimed = await queue.claimAll(workerId)
  t.equal(claimed.length, 2)
  await core.deliveries.release(workerId, claimed, 300)
  t.equal(await wake(queue), 0)
})

t.test('what was woken and finds the hosts away again waits for its time, and is woken again after that', async (t) => {
  const queue = await makeQueue(t)
  const workerId = await queue.register()
  await queue.accept(recipients(2))
  await tryAll(queue, workerId, AWAY)
  t.equal(await wake(queue), 2)
  await tryAll(queue, workerId, AWAY)
  t.equal(await wake(queue), 0)
  await moveClock(queue.service.sql, '3 hours')
  await tryAll(queue, workerId, AWAY)
  t.equal(await wake(queue), 2)
})

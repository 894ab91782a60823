import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createCore,
  createLog,
  type Delivered,
  identityOf,
  openDatabase,
  type Result,
  systemClock,
} from '@postrider/core'
import t from 'tap'
import { leftNotes, openAnswerNotes } from '../../packages/delivery/src/queue/answer-notes.ts'
import { DELIVERED, makeQueue, recipients } from '../core/delivery/queue-of.ts'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { takesLinearTime } from '../helpers/linear.ts'
import { startProcess } from '../helpers/processes.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

t.test('what was answered before its worker was killed is recorded by the next one, and not sent again', async (t) => {
  const sink = await startSink(t)
  const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
  const sender = await service.makeSender()
  const folder = join(service.env.DATA_DIR as string, 'workers')
  const notes = (): string =>
    existsSync(folder)
      ? readdirSync(folder)
          .map((name) => readFileSync(join(folder, name), 'utf8'))
          .join('')
      : ''
  const worker = await startProcess(t, 'delivery', service.env)
  const locking = openDatabase({ url: service.env.DATABASE_URL as string, name: 'lock', connections: 1 })
  t.teardown(() => locking.end({ timeout: 1 }))

  const { messageId } = await locking.begin(async (sql) => {
    await sql`set local idle_in_transaction_session_timeout = 0`
    // Outcomes cannot be recorded meanwhile.
    await sql`lock table attempts in access exclusive mode`
    const envelopes = ['lena@harbor.example', 'mina@harbor.example'].map((to) => envelopeTo(to))
    const accepted = await acceptMessage(service, sender, { envelopes })
    await until('both answers to be noted', () => notes().split('"kind":"delivered"').length === 3, 60_000)
    worker.kill()
    await worker.exited
    const [name = ''] = readdirSync(folder)
    // One that cannot be recorded does not fail the others.
    appendFileSync(join(folder, name), `{"workerId":${name},"messageId":"none","outcome":{}}\n`)
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like 'postrider delivery%'`
    return accepted
  })
  const elsewhere = { ...identityOf(process.pid), place: 'a host before its restart' }
  writeFileSync(join(folder, '999999'), `${JSON.stringify(elsewhere)}\n`)
  const next = await startProcess(t, 'delivery', service.env)
  const deliveries = async () => (await service.core.messages.show(messageId))?.deliveries ?? []
  await until(
    'both to be finished',
    async () => (await deliveries()).every(({ state }) => state === 'delivered'),
    60_000,
  )
  t.strictSame(
    (await deliveries()).map(({ attempts }) => attempts.map(({ indeterminate }) => indeterminate)),
    [[false], [false]],
  )
  t.equal(sink.messages.length, 2, 'one copy each')
  t.ok(next.log.some(({ msg }) => msg === 'recorded answers that a dead worker had noted'))
  await until('all files but its own to be deleted', () => readdirSync(folder).length === 1, 60_000)
  await next.stop()
  t.strictSame(readdirSync(folder), [], 'a worker that stops leaves none')
})

t.test('a worker whose process has ended is dead at once, any other after some time', async (t) => {
  const queue = await makeQueue(t)
  await queue.accept(recipients(3))
  const { service } = queue
  const lease = await service.core.deliveries.register({ host: 'mx1.harbor.example', pid: 1 })
  t.equal((await queue.claimAll(lease.workerId)).length, 3)
  await lease.abandon()
  // Its clock stands still.
  const clock = { ...systemClock, monotonic: () => 0 }
  const { deliveries, readiness } = createCore({
    sql: service.sql,
    config: service.config,
    log: createLog('test', 'silent'),
    clock,
  })
  t.teardown(() => readiness.close())
  const others = deliveries.watchWorkers()
  const before: number[] = []
  const own = deliveries.watchWorkers(undefined, {
    isGone: (id) => id === lease.workerId,
    beforeTakeOver: async (dead) => void before.push(...dead),
  })
  t.equal(await others.takeOver(), 0)
  t.equal(await until('the lock to be free', async () => (await own.takeOver()) || undefined), 3)
  t.strictSame(before, [lease.workerId])
})

t.test('many notes that cannot be recorded yet are not written again with each further one', (t) => {
  takesLinearTime(t, (times) => {
    const notes = openAnswerNotes(t.testdir({}), 7, createLog('test', 'silent'))
    for (let recipientNo = 0; recipientNo < 500 * times; recipientNo++)
      notes.add({
        messageId: '00000000000000000000000000000000',
        recipientNo,
        attempt: 1,
        workerId: 7,
        outcome: { ...(DELIVERED as Delivered), reply: { code: 250, enhanced: '', text: 'x'.repeat(5000) } },
      })
  })
  t.end()
})

t.test('a file that an earlier worker of this number has left says nothing of this one', (t) => {
  const dataDir = t.testdir({ workers: { 7: `${JSON.stringify({ ...identityOf(process.pid), startedAt: '1' })}\n` } })
  t.ok(leftNotes(dataDir).isGone(7))
  openAnswerNotes(dataDir, 7, createLog('test', 'silent'))
  t.notOk(leftNotes(dataDir).isGone(7))
  t.end()
})

t.test('notes outlive a file that was cut off in the middle of a line, and one that has grown too long', async (t) => {
  const dataDir = t.testdir({})
  const log = createLog('test', 'silent')
  const notes = openAnswerNotes(dataDir, 7, log)
  const result = (recipientNo: number, text = ''): Result => ({
    messageId: '00000000000000000000000000000000',
    recipientNo,
    attempt: 1,
    workerId: 7,
    outcome: { ...(DELIVERED as Delivered), reply: { code: 250, enhanced: '', text } },
  })
  const open = result(0)
  notes.add(open)
  for (let at = 1; at <= 400; at++) {
    const one = result(at, 'x'.repeat(5000))
    notes.add(one)
    notes.settle(one)
  }
  notes.add(result(401, 'x'.repeat(20_000)))
  const path = join(dataDir, 'workers', '7')
  t.ok(readFileSync(path).length < 1_100_000)
  const left = leftNotes(dataDir)
  t.ok(left.of(7).some(({ recipientNo }) => recipientNo === 0))
  t.notOk(
    left.of(7).some(({ recipientNo }) => recipientNo === 401),
    'a reply that long is not noted',
  )
  t.notOk(left.isGone(7), 'this process')
  t.strictSame(left.of(8), [])
  for (const one of [open, result(402)]) {
    notes.add(one)
    notes.settle(one)
    t.strictSame(left.of(7), [], 'once all are recorded, nothing of them is left')
  }
  t.notOk(left.isGone(7))
  notes.add(open)
  t.strictSame(
    left.of(7).map(({ recipientNo }) => recipientNo),
    [0],
  )
  notes.settle(open)
  notes.close()
  t.notOk(existsSync(path))
})

import { type ChildProcess, spawn } from 'node:child_process'
import { hostname } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type ClaimedDelivery, type Core, createCore, createLog, type Result } from '@postrider/core'
import t, { type Test } from 'tap'
import { claimDue } from '../../helpers/claim.ts'
import { moveClock } from '../../helpers/database.ts'
import { registerWorker } from '../../helpers/lease.ts'
import { isInTime } from '../../helpers/pace.ts'
import { passTime } from '../../helpers/pass-time.ts'
import { BARE_ENVIRONMENT } from '../../helpers/processes.ts'
import { makeService, type TestService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { acceptMessage, envelopeTo } from '../submission.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const HOST = 'mx1.harbor.example'

interface Worker {
  readonly child: ChildProcess
  readonly workerId: number
  readonly claimed: readonly ClaimedDelivery[]
  /** What each beat answered. */
  readonly beats: boolean[]
}

/** A real worker process that claims what is due and notes the final dot of some. */
async function startWorker(t: Test, service: TestService, dots = 0): Promise<Worker> {
  const child = spawn(process.execPath, ['test/core/delivery/worker-process.ts', String(dots)], {
    cwd: ROOT,
    env: { ...BARE_ENVIRONMENT, ...service.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const beats: boolean[] = []
  const lines = createInterface({ input: child.stdout })
  const first = await new Promise<Pick<Worker, 'workerId' | 'claimed'>>((resolve) => {
    lines.once('line', (line) => resolve(JSON.parse(line)))
  })
  lines.on('line', (line) => beats.push((JSON.parse(line) as { alive: boolean }).alive))
  return { child, ...first, beats }
}

/** A service with one message to three recipients, and a watch with the clock in the test's hand. */
async function makeQueue(t: Test) {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const recipients = ['lena@harbor.example', 'mina@harbor.example', 'nora@harbor.example']
  const { messageId } = await acceptMessage(service, sender, { envelopes: recipients.map((to) => envelopeTo(to)) })
  const clock = { ahead: 0 }
  const observer = createCore({
    sql: service.sql,
    config: service.config,
    log: createLog('test', 'silent'),
    clock: { now: () => Date.now(), monotonic: () => performance.now() + clock.ahead },
  })
  t.teardown(() => observer.readiness.close())
  const story = async () => (await service.core.messages.show(messageId))?.deliveries ?? []
  return { service, messageId, clock, observer, watch: observer.deliveries.watchWorkers(), story }
}

/** The worker of each test's own process; a lease keeps a connection of its own. */
const observers = new WeakMap<Core, Promise<{ readonly workerId: number }>>()

async function claimAll(core: Core): Promise<ClaimedDelivery[]> {
  const observer = observers.get(core) ?? registerWorker(t, core, 'observer')
  observers.set(core, observer)
  const { workerId } = await observer
  return [...(await claimDue(core, { workerId, limit: 100 }))]
}

function delivered({ messageId, recipientNo, attempt }: ClaimedDelivery, workerId: number): Result {
  const reply = { code: 250, enhanced: '2.0.0', text: 'taken' }
  const outcome = { kind: 'delivered', stage: 'dot', reply, steps: [], milliseconds: 5 } as const
  return { messageId, recipientNo, attempt, workerId, outcome }
}

t.test('the deliveries of a killed worker come back within ten seconds, due at once', async (t) => {
  const { service, watch, story } = await makeQueue(t)
  const worker = await startWorker(t, service)
  t.equal(worker.claimed.length, 3)
  const killedAt = performance.now()
  worker.child.kill('SIGKILL')
  const taken = await until('the take-over', async () => (await watch.takeOver()) || undefined, 20_000)
  const seconds = (performance.now() - killedAt) / 1000
  t.equal(taken, 3)
  t.ok(seconds > 4 && isInTime(killedAt, 10_000), `after ${seconds.toFixed(1)} s`)
  for (const { state, attempts } of await story()) {
    t.equal(state, 'queued')
    t.match(attempts, [{ attempt: 1, outcome: 'abandoned', indeterminate: false }])
  }
  const again = await claimAll(service.core)
  t.equal(again.length, 3)
  for (const { attempt, onlyHost } of again) t.match({ attempt, onlyHost }, { attempt: 2, onlyHost: null })
})

t.test(
  'a delivery whose final dot a lost worker had noted is indeterminate: same host, not before five minutes',
  async (t) => {
    const { service, watch, clock, story } = await makeQueue(t)
    const worker = await startWorker(t, service, 1)
    worker.child.kill('SIGKILL')
    await takenOver(watch, clock)
    const [dotted, ...others] = await story()
    t.match(dotted, {
      state: 'deferred',
      attempts: [{ outcome: 'deferred', indeterminate: true, stage: 'dot', host: HOST }],
    })
    for (const { state } of others) t.equal(state, 'queued')

    t.strictSame(
      (await claimAll(service.core)).map(({ recipientNo }) => recipientNo).sort(),
      [1, 2],
      'the others are due at once',
    )
    await moveClock(service.sql, '4 minutes 30 seconds')
    t.strictSame(await claimAll(service.core), [])
    await moveClock(service.sql, '5 minutes 5 seconds')
    const [late, ...more] = await claimAll(service.core)
    t.strictSame(more, [])
    t.match(late, { recipientNo: 0, attempt: 2, onlyHost: HOST })
  },
)

t.test('an indeterminate take-over is an event', async (t) => {
  const { service, watch, clock, messageId } = await makeQueue(t)
  const worker = await startWorker(t, service, 1)
  worker.child.kill('SIGKILL')
  await takenOver(watch, clock)
  const events = (await service.core.messages.show(messageId))?.events.filter(({ type }) => type === 'deferred')
  t.match(events, [{ recipientNo: 0, detail: { attempt: 1, indeterminate: true, host: HOST } }])
})

t.test('deliveries are taken over in a week for which no partition was made', async (t) => {
  const { service, watch, clock, story } = await makeQueue(t)
  const worker = await startWorker(t, service, 1)
  worker.child.kill('SIGKILL')
  await service.sql.unsafe(
    `create or replace function service_now() returns timestamptz language sql stable as 'select now() + interval ''1 year'''`,
  )
  await takenOver(watch, clock)
  t.strictSame(
    (await story()).map(({ state }) => state),
    ['deferred', 'queued', 'queued'],
  )
})

t.test('a worker counts as alive as long as it holds its lock and sends heartbeats', async (t) => {
  const { service, watch, clock } = await makeQueue(t)
  const [killed, stopped] = [await startWorker(t, service), await startWorker(t, service)]
  const livingAre = (...expected: readonly { readonly workerId: number }[]) =>
    until('the living workers to be known', async () => {
      await watch.takeOver()
      return String(watch.living) === String(expected.map(({ workerId }) => workerId))
    })
  t.same(watch.living, [])
  await livingAre(killed, stopped)
  killed.child.kill('SIGKILL')
  await livingAre(stopped)
  stopped.child.kill('SIGSTOP')
  // It counts from when it was seen, which the last one has not been if it was on its way.
  await lastBeatOf(service, stopped)
  await watch.takeOver()
  clock.ahead += 6000
  await watch.takeOver()
  t.strictSame([...watch.living], [], 'no heartbeat for some time')
})

t.test('a living worker is left alone, however long it takes', async (t) => {
  const { service, watch, clock, story } = await makeQueue(t)
  const worker = await startWorker(t, service, 1)
  for (let look = 0; look < 12; look++) {
    t.equal(await watch.takeOver(), 0)
    const seen = worker.beats.length
    await until('a beat', () => worker.beats.length > seen)
    // Less than a minute between two beats is slow but not dead.
    clock.ahead += 59_000
  }
  for (const { state } of await story()) t.equal(state, 'sending')
  t.ok(worker.beats.every((alive) => alive))
})

t.test(
  'a stopped worker keeps its deliveries for a minute, then they are taken over and its results refused',
  async (t) => {
    const { service, watch, clock, story } = await makeQueue(t)
    const worker = await startWorker(t, service, 1)
    await until('a beat', () => worker.beats.length > 0)
    worker.child.kill('SIGSTOP')
    await lastBeatOf(service, worker)
    await watch.takeOver()
    clock.ahead += 59_000
    t.equal(await watch.takeOver(), 0, 'its lock is held and a minute is not over')
    clock.ahead += 2000
    t.equal(await watch.takeOver(), 3)

    const results = worker.claimed.map((claimed) => delivered(claimed, worker.workerId))
    t.strictSame(
      await service.core.deliveries.record(results),
      [false, false, false],
      'nobody takes its results any more',
    )
    const dots = worker.claimed.map((claimed) => ({ ...claimed, workerId: worker.workerId, host: HOST, domainId: 1 }))
    t.strictSame(
      await service.core.deliveries.recordEndOfData(dots),
      [false, false, false],
      'nor may it write a final dot',
    )
    worker.child.kill('SIGCONT')
    // One that was answered before it was stopped may come first.
    await until('it is told that it was taken for dead', () => worker.beats.at(-1) === false)
    t.strictSame(
      (await story()).map(({ state }) => state),
      ['deferred', 'queued', 'queued'],
    )
  },
)

t.test('a worker that was taken over claims nothing more', async (t) => {
  const { service, watch, clock, story } = await makeQueue(t)
  const { workerId } = await registerWorker(t, service.core, 'observer')
  await watch.takeOver()
  clock.ahead += 61_000
  await watch.takeOver()
  t.equal((await claimDue(service.core, { workerId, limit: 100 })).length, 0)
  for (const { state } of await story()) t.equal(state, 'queued', 'somebody else will get it')
})

t.test(
  'a worker evaluates no other while its own heartbeats do not arrive, nor in the first moments after that',
  async (t) => {
    const { service, clock, observer } = await makeQueue(t)
    const own = await service.core.deliveries.register({ host: 'own.example', pid: 1 })
    const other = await service.core.deliveries.register({ host: 'other.example', pid: 1 })
    t.teardown(() => Promise.all([own.release(), other.release()]))
    t.equal((await claimDue(service.core, { workerId: other.workerId, limit: 100 })).length, 3)
    const watch = observer.deliveries.watchWorkers(own.workerId)
    t.equal(await watch.takeOver(), 0)
    // As in a failover: the database takes reads, and no commits.
    clock.ahead += 61_000
    t.equal(await watch.takeOver(), 0)
    await own.beat()
    t.equal(await watch.takeOver(), 0)
    clock.ahead += 61_000
    await own.beat()
    t.equal(await watch.takeOver(), 3, 'the other one had its time')
  },
)

t.test('two observers of one dead worker take over once', async (t) => {
  const { service, watch, story } = await makeQueue(t)
  const other = service.core.deliveries.watchWorkers()
  const worker = await startWorker(t, service)
  worker.child.kill('SIGKILL')
  await watch.takeOver()
  await until('the free lock', async () => !(await service.core.deliveries.isAlive(hostname())))
  await Promise.all([watch.takeOver(), other.takeOver()])
  passTime(5100)
  const counts = await Promise.all([watch.takeOver(), other.takeOver(), watch.takeOver(), other.takeOver()])
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    3,
  )
  for (const { attempts } of await story()) t.equal(attempts.length, 1)
})

t.test(
  'a delivery whose worker was lost three times waits five minutes, so that it cannot stop all others',
  async (t) => {
    const { service, watch, clock, story } = await makeQueue(t)
    for (let lost = 1; lost <= 3; lost++) {
      const worker = await startWorker(t, service)
      t.equal(worker.claimed.length, 3, `worker ${lost}`)
      worker.child.kill('SIGKILL')
      await takenOver(watch, clock)
    }
    t.strictSame(await claimAll(service.core), [])
    await moveClock(service.sql, '5 minutes 5 seconds')
    const again = await claimAll(service.core)
    t.strictSame(
      again.map(({ attempt }) => attempt),
      [4, 4, 4],
    )
    for (const { attempts } of await story()) t.equal(attempts.length, 3)
  },
)

t.test('a worker that gives its lease up leaves no row behind, and isAlive follows', async (t) => {
  const service = await makeService(t)
  const lease = await service.core.deliveries.register({ host: 'here.example', pid: 1 })
  t.equal(await service.core.deliveries.isAlive('here.example'), true)
  t.equal(await service.core.deliveries.isAlive('there.example'), false)
  t.equal(await lease.beat(), true)
  await lease.release()
  t.equal(await service.core.deliveries.isAlive('here.example'), false)
  t.strictSame([...(await service.sql`select 1 from workers`)], [])
})

/** Waits until the last heartbeat of a stopped worker is in the database: none has come for longer than one is on its way. */
async function lastBeatOf({ sql }: TestService, { workerId }: Worker): Promise<void> {
  let last = { beat: '', since: performance.now() }
  await until('its last heartbeat', async () => {
    const [row] = await sql<{ beat: string }[]>`select beat::text from workers where id = ${workerId}`
    if (row && row.beat !== last.beat) last = { beat: row.beat, since: performance.now() }
    return performance.now() - last.since > 700
  })
}

/** Looks until the dead worker's lock is free, then lets five seconds pass on the observer's clock. */
async function takenOver(watch: { takeOver(): Promise<number> }, clock: { ahead: number }): Promise<void> {
  await until('the take-over', async () => {
    clock.ahead += 3000
    return (await watch.takeOver()) > 0
  })
}

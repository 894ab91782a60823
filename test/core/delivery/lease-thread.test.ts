import t, { type Test } from 'tap'
import { makeService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'

/** Fifty beats for each second of a real worker's. */
const TIMES = { beatEvery: 40, hungAfter: 2000, silentAfter: 800 } as const

async function makeWorker(t: Test) {
  const service = await makeService(t)
  const lost: string[] = []
  const lease = await service.core.deliveries.hold({
    host: 'worker.example',
    pid: process.pid,
    times: TIMES,
    onLost: (why) => lost.push(why),
  })
  // What a living worker does all the time: its statements are answered.
  const working = setInterval(lease.answered, 50)
  t.teardown(() => clearInterval(working))
  const look = async (): Promise<{ beat: number; locked: boolean }> => {
    const [row] = await service.sql<{ beat: number; locked: boolean }[]>`
      select beat::int, exists (select from pg_locks where locktype = 'advisory' and objid = w.id::oid and objsubid = 2
                                   and database = (select oid from pg_database where datname = current_database())) as locked
        from workers w where id = ${lease.workerId}`
    if (!row) throw new Error('the worker is gone')
    return row
  }
  return { service, lease, lost, look, stopWorking: () => clearInterval(working) }
}

/** Nothing else happens in this thread meanwhile. */
function stop(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

t.test('a main loop that is held up by a message does not keep the beats from going out', async (t) => {
  const { lease, look, lost } = await makeWorker(t)
  const before = await look()
  stop(1200)
  const after = await look()
  t.ok(after.beat - before.beat >= 5, `${after.beat - before.beat} beats in 1.2 s`)
  t.ok(after.locked)
  t.strictSame(lost, [])
  await lease.release()
})

t.test('a worker whose main loop stands still gives its lease up, and is told so when it goes on', async (t) => {
  const { look, lost } = await makeWorker(t)
  stop(7000)
  const standing = await look()
  t.equal(standing.locked, false, 'its lock is free')
  await until('the news', () => lost.length > 0)
  t.equal((await look()).beat, standing.beat, 'it beats no more')
  t.strictSame(lost, ['hung'])
})

t.test('a worker whose statements are not answered while its beats are gives its lease up', async (t) => {
  const { look, lost, stopWorking } = await makeWorker(t)
  stopWorking()
  await until('the end of the lease', () => lost.length > 0)
  t.strictSame(lost, ['silent'])
  await until('a free lock', async () => !(await look()).locked)
})

t.test('a lease that was taken over is lost', async (t) => {
  const { service, lost } = await makeWorker(t)
  await service.sql`delete from workers`
  await until('the news', () => lost.length > 0)
  t.strictSame(lost, ['taken'])
})

t.test('a worker that gives its lease up leaves no row behind', async (t) => {
  const { service, lease, lost } = await makeWorker(t)
  await lease.release()
  t.strictSame([...(await service.sql`select from workers`)], [])
  t.strictSame(lost, [])
})

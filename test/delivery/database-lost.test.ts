import t from 'tap'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { startOutboxProcess } from './outbox.ts'

t.test('a delivery whose letter the database could not give goes back untried, and is made', async (t) => {
  const sink = await startSink(t)
  const outbox = await startOutboxProcess(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
  const { sql } = outbox.service
  await until('the worker to be stopped between its statements', async () => {
    outbox.worker.kill('SIGSTOP')
    const busy = await sql`
      select from pg_stat_activity
       where datname = current_database() and application_name like 'postrider delivery %' and state <> 'idle'`
    if (busy.count === 0) return true
    // In a transaction it may hold the lock that is needed below.
    outbox.worker.kill('SIGCONT')
    return undefined
  })
  const id = await outbox.send('lena@harbor.example')
  await sql.begin(async (holder) => {
    // What a letter is signed with is asked for when its turn has come.
    await holder`lock table domains in access exclusive mode`
    outbox.worker.kill('SIGCONT')
    const [waiting] = await until('the worker to wait for its domain', async () => {
      const found = await holder<{ pid: number }[]>`
        select l.pid from pg_locks l join pg_stat_activity a using (pid)
         where l.relation = 'domains'::regclass and not l.granted and a.application_name like 'postrider delivery %'`
      return found.length > 0 ? found : undefined
    })
    await holder`select pg_terminate_backend(${waiting?.pid ?? 0})`
  })
  const { attempts } = await outbox.inState(id, 'delivered')
  t.match(attempts, [{ attempt: 1, outcome: 'delivered' }])
  t.equal(attempts.length, 1)
})

import t from 'tap'
import { acceptMessage } from '../core/submission.ts'
import { makeService } from '../helpers/service.ts'
import { postrider } from './postrider.ts'

const service = await makeService(t)
const { sql, env } = service
await acceptMessage(service, await service.makeSender())
const run = (...options: string[]) => postrider(env, 'restored', ...options)
const TO = ['--to', '2026-11-24T08:00:00Z']

/** All that "restored" changes. */
async function state() {
  const [row] = await sql`
    select (select json_agg(q order by message_id, recipient_no) from delivery_queue q) as queue,
           (select count(*)::int from event_epochs) as epochs,
           (select json_agg(i order by name) from instance i) as instance,
           (select count(*)::int from audit_log where action = 'database.restore') as audited`
  return row
}
const unchanged = await state()

t.test('of a database that was not restored, nothing is held', async (t) => {
  const { code, stdout, stderr } = await run()
  t.equal(code, 1)
  t.equal(stdout, '')
  t.match(stderr, /^postrider: no restore is left to be marked: .* name the moment of its state with --to\n$/)
  t.strictSame(await state(), unchanged)
})

t.test('an invalid moment is rejected', async (t) => {
  for (const moment of ['yesterday', '2026-13-24T08:00:00Z', '']) {
    const { code, stderr } = await run('--to', moment)
    t.equal(code, 2, moment)
    t.match(stderr, '--to')
  }
  t.strictSame(await state(), unchanged)
})

t.test('while delivery processes work nothing is held: they would deliver mail that is then held', async (t) => {
  const [{ id }] = await sql<[{ id: number }]>`insert into workers (host, pid) values ('mx1', 17) returning id`
  await sql.reserve().then(async (session) => {
    await session`select pg_advisory_lock(7741, ${id})`
    for (const options of [[], TO]) t.equal((await run(...options)).code, 1)
    t.equal(
      (await run(...TO)).stderr,
      'postrider: delivery processes work on this database: mx1 (pid 17); stop them first\n',
    )
    t.strictSame(await state(), unchanged)
    await session`select pg_advisory_unlock(7741, ${id})`
    session.release()
  })
})

t.test('once they are stopped the mail is held, and a second time only with a moment', async (t) => {
  t.match(await run(...TO), {
    code: 0,
    stdout: /^marked as restored to 2026-11-24T08:00:00\.000Z\nheld in the queue: 1,/,
  })
  const marked = await state()
  t.match(marked, { epochs: 1, audited: 1, queue: [{ waiting_for: 'hold' }] })
  t.match(await run(), { code: 1, stderr: /^postrider: no restore is left/ })
  t.strictSame(await state(), marked)
})

import { createCore, createLog, openDatabase, readConfig } from '@postrider/core'
import t, { type Test } from 'tap'
import { databaseClock } from '../../../packages/core/src/platform/database/database-clock.ts'
import { makeService, type TestService } from '../../helpers/service.ts'
import { acceptMessage } from '../submission.ts'

const DAY = 86_400_000

/** The core of a process on a host whose clock is ahead by so many days. */
async function onHost(t: Test, service: TestService, days: number) {
  const sql = openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 2 })
  const clock = { now: () => Date.now() + days * DAY, monotonic: () => performance.now() }
  const core = createCore({ sql, config: readConfig({ ...service.env }), log: createLog('test', 'silent'), clock })
  t.teardown(() => core.close())
  await core.readiness.check()
  return core
}

for (const days of [-15, -3000, 100, 36_500]) {
  t.test(
    `a host whose clock is ${Math.abs(days)} days ${days < 0 ? 'behind' : 'ahead'} takes mail, dated by the database`,
    async (t) => {
      const service = await makeService(t)
      const sender = await service.makeSender()
      const core = await onHost(t, service, days)
      t.match(core.readiness.current(), { ready: true })
      const { messageId } = await acceptMessage({ ...service, core }, sender)
      const dated = Number.parseInt(messageId.slice(0, 12), 16)
      t.ok(Math.abs(dated - Date.now()) < 60_000, `its id says ${new Date(dated).toISOString()}`)
      t.match(messageId, /^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/, 'a UUIDv7 (RFC 9562 5.7)')
      const [row] = await service.sql<{ transaction_base: string; received: string }[]>`
      select transaction_base, tableoid::regclass::text as received from messages`
      t.ok(Math.abs(Number(row?.transaction_base.slice(0, 10)) - Date.now() / 1000) < 60, 'and its transaction number')
    },
  )
}

t.test('when the clock of the database leaps over weeks mail is taken all the same', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  await service.sql.unsafe(
    `create or replace function service_now() returns timestamptz language sql stable as 'select now() + interval ''100 days'''`,
  )
  await acceptMessage(service, sender)
  t.equal((await service.sql`select 1 from messages`).length, 1)
})

t.test('a small correction never sets the time back, a large one does', async (t) => {
  let steady = 1000
  const clock = databaseClock({ now: () => 0, monotonic: () => steady })
  const told = (database: number) => clock.set({ asked: steady, answered: steady, database })
  told(500_000)
  t.equal(clock.now(), 500_000)
  // Another answer took another way, and says so many milliseconds less.
  told(499_960)
  t.equal(clock.now(), 500_000)
  steady += 30
  t.equal(clock.now(), 500_000)
  steady += 30
  t.equal(clock.now(), 500_020)
  told(100_000)
  t.equal(clock.now(), 100_000)
})

import { openDatabase } from '@postrider/core'
import t from 'tap'
import { numberEvents } from '../../helpers/number-events.ts'
import { isInTime } from '../../helpers/pace.ts'
import { acceptMessage } from '../submission.ts'
import { dropAt, finish, make, tables } from './weeks.ts'

t.test('a long reader holds up what is dropped, and no mail; afterwards it goes on', async (t) => {
  const { service, sender } = await make(t, { EVENT_DAYS: '7' })
  const old = async () =>
    (await service.sql`select relname from pg_class where relkind = 'r' and relname ~ '_2025w\\d\\d$'`).length
  await service.sql`select ensure_partitions('2025-06-04', 0)`
  const made = await old()
  t.ok(made > 5)
  const reader = openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 1 })
  t.teardown(() => reader.end())
  let isEachInTime = true
  await reader.begin(async (transaction) => {
    // Longer than the service lets its own sessions sit.
    await transaction`set local idle_in_transaction_session_timeout = 0`
    await transaction`select count(*) from messages, bodies, events, attempts, finished_deliveries`
    const progress = { over: false }
    const dropping = service.core.retention.dropPartitions().then(
      () => t.fail('it should have been held up'),
      () => (progress.over = true),
    )
    while (!progress.over) {
      const begun = performance.now()
      await acceptMessage(service, sender)
      isEachInTime &&= isInTime(begun, 2000)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await dropping
    t.equal(await old(), made)
  })
  t.ok(isEachInTime, 'no accept waited')
  await dropAt(service, 1)
  t.equal(await old(), 0)
})

t.test('one left half way does not block an older one', async (t) => {
  const { service } = await make(t, { EVENT_DAYS: '7' })
  const old = async () =>
    (await service.sql`select relname from pg_class where relkind = 'r' and relname ~ '_2025w\\d\\d$'`).length
  await service.sql`select ensure_partitions('2025-06-04', 1)`
  const [newest] = await service.sql<{ name: string }[]>`
    select relname as name from pg_class where relname ~ '^events_2025w\\d\\d$' order by 1 desc limit 1`
  const [one, other] = ['test', 'test'].map((name) =>
    openDatabase({ url: service.env.DATABASE_URL as string, name, connections: 1 }),
  )
  t.teardown(() => Promise.all([one?.end(), other?.end()]))
  await one?.begin(async (transaction) => {
    await transaction`select count(*) from events`
    await other?.unsafe(`comment on table ${newest?.name} is 'postrider: past its retention'`)
    await other?.unsafe("set statement_timeout = '500ms'")
    await t.rejects(
      other?.unsafe(`alter table events detach partition ${newest?.name} concurrently`) as Promise<unknown>,
    )
  })
  await dropAt(service, 1)
  t.equal(await old(), 0)
})

t.test('a week that was only marked is requested again, since its mail may have been requeued', async (t) => {
  const { service, sender } = await make(t, { EVENT_DAYS: '7' })
  await acceptMessage(service, sender)
  await numberEvents(service)
  const [{ week } = { week: '' }] = await service.sql<{ week: string }[]>`
    select to_char(now() at time zone 'UTC', '"_"IYYY"w"IW') as week`
  await service.sql.unsafe(`comment on table bodies${week} is 'postrider: past its retention'`)
  await dropAt(service, 30)
  t.ok((await tables(service)).includes('bodies'), 'its delivery still waits')
  const [{ mark } = { mark: '' }] = await service.sql<{ mark: string | null }[]>`
    select obj_description(${`bodies${week}`}::regclass) as mark`
  t.equal(mark, null)
})

t.test('a run that died is continued, and a table that an operator detached stays', async (t) => {
  const { service, sender } = await make(t, { EVENT_DAYS: '7' })
  await acceptMessage(service, sender)
  await finish(service)
  await numberEvents(service)
  const [{ week } = { week: '' }] = await service.sql<{ week: string }[]>`
    select to_char(now() at time zone 'UTC', '"_"IYYY"w"IW') as week`
  await service.sql.unsafe(`comment on table attempts${week} is 'postrider: past its retention'`)
  await service.sql.unsafe(`alter table attempts detach partition attempts${week}`)
  await service.sql.unsafe(`alter table bodies detach partition bodies${week}`)
  await dropAt(service, 30)
  t.strictSame(await tables(service), ['bodies'])
})

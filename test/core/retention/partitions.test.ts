import { openDatabase } from '@postrider/core'
import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { numberEvents } from '../../helpers/number-events.ts'
import { makeService, type Sender, type TestService } from '../../helpers/service.ts'
import { acceptMessage } from '../submission.ts'

/** The tables of a week of this moment's, by what they are of. */
async function tables({ sql }: TestService): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c
     where c.relkind = 'r' and c.relname ~ to_char(now() at time zone 'UTC', '"_"IYYY"w"IW"$"') order by 1`
  return rows.map(({ name }) => name.replace(/_\d{4}w\d\d$/, ''))
}

/** All that wait are delivered, as a worker would note it. */
async function finish({ sql }: TestService): Promise<void> {
  await sql`
    with gone as (delete from delivery_queue returning *), done as (
      insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain,
             kind, attempt, finished_at)
      select message_id, recipient_no, account_id, 'delivered', recipient, recipient_key, recipient_domain, kind, 1, service_now()
        from gone)
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select service_now(), account_id, 'sent', message_id, recipient_no, '{"reply": "250 ok"}' from gone`
}

/** Drops what is due until nothing more is; each round a minute later. */
async function dropAt(service: TestService, days: number): Promise<string[]> {
  const dropped: string[] = []
  for (let minute = 0; ; minute += 2) {
    await moveClock(service.sql, `${days} days ${minute} minutes`)
    const round = await service.core.retention.dropPartitions()
    if (round.length === 0) return dropped
    dropped.push(...round)
  }
}

const ALL = ['attempts', 'bodies', 'events', 'finished_deliveries', 'messages']

async function make(t: Test, settings: Record<string, string> = {}): Promise<{ service: TestService; sender: Sender }> {
  const service = await makeService(t, settings)
  return { service, sender: await service.makeSender() }
}
type Test = Parameters<typeof makeService>[0]

t.test('bodies go after their days, and all the rest after those of events, table by table', async (t) => {
  const { service, sender } = await make(t)
  const { messageId } = await acceptMessage(service, sender)
  await finish(service)
  await numberEvents(service)
  const had = await tables(service)
  t.ok(ALL.every((name) => had.includes(name)))
  await dropAt(service, 29)
  t.same(await tables(service), had, 'nothing before its time')
  await dropAt(service, 38)
  t.same(
    await tables(service),
    had.filter((name) => name !== 'bodies'),
  )
  t.equal((await service.core.messages.show(messageId))?.deliveries[0]?.state, 'delivered')
  await dropAt(service, 89)
  t.ok((await tables(service)).includes('events'))
  await dropAt(service, 105)
  t.strictSame(await tables(service), [])
  t.equal(await service.core.messages.show(messageId), undefined)
})

t.test("an operator's shorter days count, and bodies never outlast the events", async (t) => {
  const { service, sender } = await make(t, { EVENT_DAYS: '8', BODY_DAYS: '300' })
  await acceptMessage(service, sender)
  await finish(service)
  await numberEvents(service)
  await dropAt(service, 7)
  t.ok((await tables(service)).includes('bodies'))
  await dropAt(service, 23)
  t.strictSame(await tables(service), [])
})

t.test('what waits to be delivered keeps its message and its body, however late it is', async (t) => {
  const { service, sender } = await make(t, { EVENT_DAYS: '7', BODY_DAYS: '7' })
  const { messageId } = await acceptMessage(service, sender, { scheduledAt: new Date(Date.now() + 30 * 86_400_000) })
  await numberEvents(service)
  await dropAt(service, 25)
  const kept = await tables(service)
  t.notOk(kept.includes('events'))
  t.ok(['messages', 'bodies', 'finished_deliveries', 'attempts'].every((name) => kept.includes(name)))
  await moveClock(service.sql, '31 days')
  const loaded =
    (await service.core.messages.load([messageId])).get(messageId.replaceAll('-', '')) ??
    [...(await service.core.messages.load([messageId])).values()][0]
  t.ok(loaded, 'it can be delivered')
  await finish(service)
  await numberEvents(service)
  await dropAt(service, 32)
  t.notOk((await tables(service)).includes('bodies'))
  t.ok((await tables(service)).includes('messages'), 'its outcome is told of for a week more')
  await dropAt(service, 50)
  t.strictSame(await tables(service), [])
})

t.test('numbers go on where they were when all events are gone, and what is left keeps its own', async (t) => {
  const { service, sender } = await make(t, { EVENT_DAYS: '7' })
  const add = async (count: number) => {
    await service.sql`insert into events (occurred_at, account_id, type)
                      select service_now(), ${sender.accountId}, 'domain' from generate_series(1, ${count})`
    await numberEvents(service)
  }
  await numberEvents(service)
  await add(1500)
  await add(1500)
  const first = await service.core.events.lastNumber(sender.accountId)
  await moveClock(service.sql, '8 days')
  await add(7)
  await dropAt(service, 15)
  const page = await service.core.events.read({ accountId: sender.accountId, after: 0, limit: 10_000 })
  t.strictSame(
    page.events.map(({ number }) => number),
    Array.from({ length: 7 }, (_, at) => first + 1 + at),
  )
  await dropAt(service, 40)
  t.equal(await service.core.events.lastNumber(sender.accountId), first + 7)
  const pages = await service.sql`select count(*)::int from event_pages where account_id = ${sender.accountId}`
  t.equal(pages[0]?.count, 1, 'the last page alone is left')
  await add(2)
  const next = await service.core.events.read({ accountId: sender.accountId, after: first + 7, limit: 10 })
  t.strictSame(
    next.events.map(({ number }) => number),
    [first + 8, first + 9],
  )
})

t.test('events without a number are never dropped', async (t) => {
  const { service, sender } = await make(t, { EVENT_DAYS: '7' })
  await acceptMessage(service, sender)
  await dropAt(service, 20)
  t.ok((await tables(service)).includes('events'))
  await numberEvents(service)
  await dropAt(service, 21)
  t.notOk((await tables(service)).includes('events'))
})

t.test('a long reader holds up what is dropped, and no mail; afterwards it goes on', async (t) => {
  const { service, sender } = await make(t, { EVENT_DAYS: '7' })
  const old = async () =>
    (await service.sql`select relname from pg_class where relkind = 'r' and relname ~ '_2025w\\d\\d$'`).length
  await service.sql`select ensure_partitions('2025-06-04', 0)`
  const made = await old()
  t.ok(made > 5)
  const reader = openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 1 })
  t.teardown(() => reader.end())
  let slowest = 0
  await reader.begin(async (transaction) => {
    await transaction`select count(*) from messages, bodies, events, attempts, finished_deliveries`
    const progress = { over: false }
    const dropping = service.core.retention.dropPartitions().then(
      () => t.fail('it should have been held up'),
      () => (progress.over = true),
    )
    while (!progress.over) {
      const begun = performance.now()
      await acceptMessage(service, sender)
      slowest = Math.max(slowest, performance.now() - begun)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await dropping
    t.equal(await old(), made)
  })
  t.ok(slowest < 2000, `the slowest accept took ${Math.round(slowest)} ms`)
  await dropAt(service, 1)
  t.equal(await old(), 0)
})

t.test('whoever died on the way is followed, and a table that an operator took out stays', async (t) => {
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

t.test('ten at once drop each table once', async (t) => {
  const { service, sender } = await make(t, { EVENT_DAYS: '7' })
  await acceptMessage(service, sender)
  await finish(service)
  await numberEvents(service)
  await moveClock(service.sql, '60 days')
  const rounds = await Promise.all(Array.from({ length: 10 }, () => service.core.retention.dropPartitions()))
  t.equal(rounds.filter((round) => round.length > 0).length, 1)
  const names = [...rounds.flat(), ...(await dropAt(service, 61))]
  t.equal(new Set(names).size, names.length)
  t.strictSame(await tables(service), [])
})

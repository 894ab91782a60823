import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { numberEvents } from '../../helpers/number-events.ts'
import { acceptMessage } from '../submission.ts'
import { dropAt, finish, make, tables } from './weeks.ts'

const ALL = ['attempts', 'bodies', 'events', 'finished_deliveries', 'messages']

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

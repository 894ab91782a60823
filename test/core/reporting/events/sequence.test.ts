import type { Event } from '@postrider/core'
import t from 'tap'
import { numberEvents } from '../../../helpers/number-events.ts'
import { makeService, type Sender, type TestService } from '../../../helpers/service.ts'
import { acceptMessage } from '../../submission.ts'

async function allEvents({ core }: TestService, { accountId }: Sender, limit = 100): Promise<Event[]> {
  const events: Event[] = []
  for (let after = 0; ; ) {
    const page = await core.events.read({ accountId, after, limit })
    if (page.next === after) return events
    events.push(...page.events)
    after = page.next
  }
}

async function addEvents(
  { sql }: TestService,
  { accountId }: Sender,
  count: number,
  at = 'service_now()',
): Promise<void> {
  await sql`insert into events (occurred_at, account_id, type)
            select ${sql.unsafe(at)}, ${accountId}, 'domain' from generate_series(1, ${count})`
}

t.test('every event of an account gets the next number, and each account counts for itself', async (t) => {
  const service = await makeService(t)
  const [one, other] = [await service.makeSender(), await service.makeSender()]
  await numberEvents(service)
  const before = await service.core.events.lastNumber(one.accountId)
  await addEvents(service, one, 3)
  await addEvents(service, other, 2)
  await addEvents(service, one, 1)
  t.equal(await numberEvents(service), 6)
  t.equal(await service.core.events.lastNumber(one.accountId), before + 4)
  const events = await allEvents(service, one)
  t.strictSame(
    events.map(({ number }) => number),
    events.map((_event, at) => at + 1),
  )
  t.equal(await numberEvents(service), 0, 'none gets a second one')
})

t.test('an event that becomes visible late is neither passed over nor does it move the others', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  await numberEvents(service)
  const before = await service.core.events.lastNumber(sender.accountId)
  const late = await service.sql.reserve()
  await late`begin`
  await late`insert into events (occurred_at, account_id, type, detail)
             values (service_now(), ${sender.accountId}, 'domain', '{"domain": "late"}')`
  await addEvents(service, sender, 2)
  t.equal((await service.core.events.sequence()).count, 0, 'later transactions wait for it')
  await late`commit`
  late.release()
  t.equal(await numberEvents(service), 3)
  const events = (await allEvents(service, sender)).filter(({ number }) => number > before)
  t.strictSame(
    events.map(({ number, detail }) => [number - before, detail.domain]),
    [
      [1, 'late'],
      [2, undefined],
      [3, undefined],
    ],
  )
})

t.test('numbers stay with their events over pages, weeks and questions of any size', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  for (const [count, at] of [
    [700, 'service_now()'],
    [700, 'service_now()'],
    [30, "service_now() - interval '7 days'"],
    [40, 'service_now()'],
    [6000, 'service_now()'],
  ] as const) {
    await addEvents(service, sender, count, at)
    await numberEvents(service)
  }
  const events = await allEvents(service, sender)
  t.strictSame(
    events.map(({ number }) => number),
    Array.from({ length: events.length }, (_, at) => at + 1),
  )
  t.ok(events.length >= 7470)
  t.equal(new Set(events.map(({ id }) => id)).size, events.length)
  for (const limit of [7, 1000, 5000]) {
    t.strictSame(
      (await allEvents(service, sender, limit)).map(({ id }) => id),
      events.map(({ id }) => id),
    )
  }
  const [pages] = await service.sql`select count(*)::int from event_pages where account_id = ${sender.accountId}`
  t.ok(pages?.count < 10, `${pages?.count} pages`)
})

t.test('many at it at once number each event once', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  let writing = true
  const readers = Array.from({ length: 4 }, async () => {
    while (writing) await service.core.events.sequence()
  })
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let round = 0; round < 50; round++) await addEvents(service, sender, 1 + (round % 7))
    }),
  )
  writing = false
  await Promise.all(readers)
  await numberEvents(service)
  const [kept] = await service.sql`select count(*)::int from events where account_id = ${sender.accountId}`
  const events = await allEvents(service, sender)
  t.equal(events.length, kept?.count)
  t.strictSame(
    events.map(({ number }) => number),
    events.map((_event, at) => at + 1),
  )
})

t.test('an event names its delivery', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  await acceptMessage(service, sender, {})
  await numberEvents(service)
  const event = (await allEvents(service, sender)).at(-1)
  t.match(event, { type: 'processed', delivery: { recipientNo: 0, from: /@/, recipient: /@/, subject: /./ } })
  t.equal(BigInt(event?.delivery?.transactionNumber ?? 1) % 4n, 0n)
})

t.test('readers may ask for some types only', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  await acceptMessage(service, sender, {})
  await addEvents(service, sender, 5)
  await numberEvents(service)
  const page = await service.core.events.read({
    accountId: sender.accountId,
    after: 0,
    limit: 100,
    types: ['processed'],
  })
  t.equal(page.events.length, 1)
  t.equal(page.next, await service.core.events.lastNumber(sender.accountId))
})

t.test('events of a database restored from a dump go on behind those it came with', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  await addEvents(service, sender, 3)
  await numberEvents(service)
  // As if the old server had been at its five millionth transaction, with two events that had no number yet.
  await service.sql`update events set transaction = (transaction::text::bigint + 5000000)::text::xid8`
  await service.sql`update event_pages set after_transaction = (after_transaction::text::bigint + 5000000)::text::xid8,
                                           to_transaction = (to_transaction::text::bigint + 5000000)::text::xid8`
  await service.sql`update event_cursors set transaction = (transaction::text::bigint + 5000000)::text::xid8`
  await service.sql`insert into events (occurred_at, account_id, type, transaction)
                    select service_now(), ${sender.accountId}, 'domain', '5900000' from generate_series(1, 2)`
  const before = await service.core.events.lastNumber(sender.accountId)
  t.equal(await service.core.events.continueAfterRestore(), true)
  t.equal(await service.core.events.continueAfterRestore(), false, 'once')
  await addEvents(service, sender, 4)
  await acceptMessage(service, sender, {})
  t.equal(await numberEvents(service), 7)
  const events = await allEvents(service, sender)
  t.strictSame(
    events.map(({ number }) => number),
    Array.from({ length: before + 7 }, (_, at) => at + 1),
  )
  t.equal(events.at(-1)?.type, 'processed')
})

t.test('a database that was never restored is let alone', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  await addEvents(service, sender, 3)
  t.equal(await service.core.events.continueAfterRestore(), false)
  await numberEvents(service)
  t.equal(await service.core.events.continueAfterRestore(), false)
})

t.test('a transaction that writes to another database of the server holds no number up', async (t) => {
  const service = await makeService(t)
  const neighbour = await makeService(t)
  const sender = await service.makeSender()
  await numberEvents(service)
  const writing = await neighbour.sql.reserve()
  await writing`begin`
  await writing`insert into instance (name, value) values ('neighbour', 'writes for long')`
  await addEvents(service, sender, 2)
  // What autovacuum writes to this one does for a moment.
  t.equal(await numberEvents(service), 2)
  await writing`commit`
  writing.release()
})

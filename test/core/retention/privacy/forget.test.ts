import type { Core, Outcome } from '@postrider/core'
import t from 'tap'
import { claimDue } from '../../../helpers/claim.ts'
import { tablesWith } from '../../../helpers/dump.ts'
import { startProcess } from '../../../helpers/processes.ts'
import type { Sender } from '../../../helpers/service.ts'
import { until } from '../../../helpers/until.ts'
import { BOUNCED, DELIVERED, makeQueue, openCore } from '../../delivery/queue-of.ts'
import { acceptMessage, envelopeTo } from '../../submission.ts'

const queue = await makeQueue(t)
const { service, core } = queue

/** Accepts that many messages to the recipient, each alone. */
async function acceptMany(sender: Sender, recipient: string, count: number): Promise<void> {
  const envelopes = [envelopeTo(recipient, { attributes: { MAIL: recipient } })]
  await Promise.all(
    Array.from({ length: count }, () => acceptMessage(service, sender, { envelopes, subject: `For ${recipient}` })),
  )
}

function quoted(outcome: Outcome, recipient: string): Outcome {
  if (outcome.kind === 'dropped') return outcome
  return { ...outcome, reply: { ...outcome.reply, text: `<${recipient}> says the server` } }
}

/** Gives all that is due an outcome whose reply quotes the recipient. */
async function deliverAll(outcome: Outcome = DELIVERED): Promise<void> {
  const workerId = await queue.register()
  for (;;) {
    const claimed = await claimDue(core, { workerId, limit: 500 })
    if (claimed.length === 0) return
    await core.deliveries.record(
      claimed.map((delivery) => ({ ...delivery, workerId, outcome: quoted(outcome, delivery.recipient) })),
    )
  }
}

/** Works like a delivery worker until these are done. */
async function work(worker: Core, requests: readonly { accountId: number; id: string }[]): Promise<void> {
  await until(
    'the requests to be done',
    async () => {
      while (await worker.privacy.forgetSome().catch(() => false));
      const states = await Promise.all(requests.map(({ accountId, id }) => core.privacy.request(accountId, id)))
      return states.every(({ state }) => state === 'done')
    },
    40_000,
  )
}

async function countOf(table: string): Promise<number> {
  const [row] = await service.sql.unsafe<{ count: number }[]>(`select count(*)::int as count from ${table}`)
  return row?.count ?? 0
}

t.test('requests of several accounts are done by several workers at once, each row once', async (t) => {
  const senders = await Promise.all(Array.from({ length: 3 }, () => service.makeSender()))
  const people = ['una', 'dva', 'tri'].map((name) => `${name}@harbor.example`)
  for (const sender of senders) for (const person of people) await acceptMany(sender, person, 70)
  await deliverAll()
  const stranger = await service.makeSender()
  await acceptMany(stranger, people[0] as string, 5)
  await deliverAll()
  const before = [await countOf('deliveries'), await countOf('events'), await countOf('attempts')]

  const requests = await Promise.all(
    senders.flatMap(({ accountId }) =>
      people.map(async (person) => ({ accountId, ...(await core.privacy.forget(accountId, [person])) })),
    ),
  )
  const workers = Array.from({ length: 10 }, () => openCore(t, service, 2))
  await Promise.all(workers.map((worker) => work(worker, requests)))

  for (const { accountId, id } of requests) {
    const { receipt, waiting } = await core.privacy.request(accountId, id)
    t.match(receipt, { deliveries: 70, attempts: 70, messages: 70, bodies: 70, cancelled: 0 })
    t.equal(waiting, 0)
  }
  t.same([await countOf('deliveries'), await countOf('events'), await countOf('attempts')], before)
  for (const person of people.slice(1)) t.same(await tablesWith(service.sql, person), [])
  const rows =
    await service.sql`select account_id from finished_deliveries where recipient_key = ${people[0] as string}`
  t.same(
    rows.map(({ account_id }) => account_id),
    Array.from({ length: 5 }, () => stranger.accountId),
    "another account's mail to the same person is its own",
  )
  const [pseudonyms] = await service.sql`
    select count(distinct recipient)::int as people, count(*)::int as rows from finished_deliveries
     where recipient_key like 'forgotten-%'`
  t.match(pseudonyms, { people: 9, rows: 630 }, 'one pseudonym a person and account')
})

t.test('an idempotency key that is the address, or holds it, goes too', async (t) => {
  const sender = await service.makeSender()
  const person = 'keyed@harbor.example'
  const keys = [
    [person, `Welcome/KEYED@harbor.example/1`],
    [person, 'order-1'],
    ['other@harbor.example', person],
    ['other@harbor.example', 'order-2'],
  ] as const
  for (const [recipient, idempotencyKey] of keys) {
    const fingerprint = Buffer.from(idempotencyKey)
    await acceptMessage(service, sender, { envelopes: [envelopeTo(recipient)], idempotencyKey, fingerprint })
  }
  const { accountId } = sender
  const request = await core.privacy.forget(accountId, [person])
  await work(core, [{ accountId, id: request.id }])
  const left = await service.sql<{ key: string }[]>`
    select key from idempotency_keys where account_id = ${accountId} order by key`
  t.strictSame(
    left.map(({ key }) => key),
    ['order-1', 'order-2'],
  )
})

t.test('an address with quotes goes from the template data of others too', async (t) => {
  const sender = await service.makeSender()
  const person = '"lena berg"@harbor.example'
  const friend = envelopeTo('friend@harbor.example', { data: { from: { email: person } } })
  await acceptMessage(service, sender, { door: 'v3', envelopes: [friend, envelopeTo(person)] })
  await deliverAll()
  const { id } = await core.privacy.forget(sender.accountId, [person])
  await work(core, [{ accountId: sender.accountId, id }])
  t.same(await tablesWith(service.sql, 'lena berg'), [])
})

t.test('a worker killed in the middle leaves nothing half done, and another goes on there', async (t) => {
  const sender = await service.makeSender()
  await acceptMany(sender, 'victim@harbor.example', 3000)
  await deliverAll(BOUNCED)
  const { id } = await core.privacy.forget(sender.accountId, ['victim@harbor.example'])
  let kills = 0
  for (;;) {
    const worker = await startProcess(t, 'delivery', service.env)
    const before = await core.privacy.request(sender.accountId, id)
    const now = await until('a batch', async () => {
      const request = await core.privacy.request(sender.accountId, id)
      return (request.receipt.deliveries > before.receipt.deliveries || request.state === 'done') && request
    })
    if (now.state === 'done') break
    if (kills < 3) {
      worker.kill()
      await worker.exited
      kills++
      continue
    }
    await until('the end', async () => (await core.privacy.request(sender.accountId, id)).state === 'done')
    await worker.stop()
    break
  }
  t.ok(kills >= 1, `${kills} kills`)
  const { receipt } = await core.privacy.request(sender.accountId, id)
  t.match(receipt, { deliveries: 3000, attempts: 3000, events: 3000, messages: 3000, bodies: 3000 })
  t.same(await tablesWith(service.sql, 'victim@harbor.example'), [])
})

t.test(
  'events of one who opened very often are erased in parts, and another worker goes on where one stopped',
  async (t) => {
    const sender = await service.makeSender()
    const { accountId } = sender
    const person = 'opener@harbor.example'
    await acceptMany(sender, person, 2)
    await deliverAll()
    await service.sql`
    insert into events (occurred_at, account_id, type, message_id, recipient_no, detail)
    select now(), ${accountId}, 'opened', (select id from messages where account_id = ${accountId} order by id limit 1), 0,
           '{"ip": "192.0.2.77", "rules": 1}'
      from generate_series(1, 5000)`
    const { id } = await core.privacy.forget(accountId, [person])
    const workers = [core, openCore(t, service, 2)] as const
    const parts: number[] = []
    const { receipt } = await until('the request to be done', async () => {
      for (;;) {
        const { events } = (await core.privacy.request(accountId, id)).receipt
        if (!(await workers[parts.length % 2 ? 1 : 0].privacy.forgetSome().catch(() => false))) break
        parts.push((await core.privacy.request(accountId, id)).receipt.events - events)
      }
      const request = await core.privacy.request(accountId, id)
      return request.state === 'done' && request
    })
    t.strictSame(
      parts.filter((count) => count > 0),
      [2000, 2000, 1002],
    )
    t.match(receipt, { deliveries: 2, attempts: 2, events: 5002, messages: 2, bodies: 2 })
    for (const text of [person, '192.0.2.77']) t.same(await tablesWith(service.sql, text), [])
  },
)

t.test('mail accepted after the request is new, though it comes before the work is done', async (t) => {
  const sender = await service.makeSender()
  const { accountId } = sender
  await acceptMany(sender, 'twice@harbor.example', 2)
  await deliverAll()
  await acceptMany(sender, 'twice@harbor.example', 2)
  const before = new Set(
    (await service.sql<{ id: string }[]>`select id::text from messages where account_id = ${accountId}`).map(
      (row) => row.id,
    ),
  )
  const { id } = await core.privacy.forget(accountId, ['twice@harbor.example'])
  await acceptMany(sender, 'twice@harbor.example', 3)
  const workerId = await queue.register()
  // Only one of the new ones is delivered. Ids do not tell which they are: those of one millisecond have no order.
  const claimed = await queue.claimAll(workerId)
  const newest = claimed.filter(({ messageId }) => !before.has(messageId)).slice(0, 1)
  const others = claimed.filter((one) => one !== newest[0])
  await core.deliveries.release(workerId, others, 0)
  await core.deliveries.record(newest.map((delivery) => ({ ...delivery, workerId, outcome: DELIVERED })))
  await work(core, [{ accountId, id }])
  const { receipt } = await core.privacy.request(accountId, id)
  t.match(receipt, { deliveries: 4, messages: 4, bodies: 4 })
  const rows = await service.sql`
    select state, count(*)::int from deliveries where recipient_key = 'twice@harbor.example' group by 1 order by 1`
  t.same(
    [...rows],
    [
      { state: 'delivered', count: 1 },
      { state: 'queued', count: 2 },
    ],
  )
  const bodies =
    await service.sql`select from bodies b join messages m on m.id = b.message_id where m.account_id = ${accountId}`
  t.equal(bodies.length, 3)
  await deliverAll()
})

t.test('a message accepted half a millisecond before the request is erased', async (t) => {
  const sender = await service.makeSender()
  const { accountId } = sender
  await acceptMany(sender, 'quick@harbor.example', 1)
  await deliverAll()
  const { id } = await core.privacy.forget(accountId, ['quick@harbor.example'])
  const at = '2026-01-01 12:00:00.0009'
  await service.sql`update messages set accepted_at = ${at}::text::timestamptz - interval '500 microseconds' where account_id = ${accountId}`
  await service.sql`update forget_requests set requested_at = ${at}::text::timestamptz where account_id = ${accountId}`
  await work(core, [{ accountId, id }])
  t.match((await core.privacy.request(accountId, id)).receipt, { deliveries: 1, messages: 1, bodies: 1 })
  t.same(await tablesWith(service.sql, 'quick@harbor.example'), [])
})

t.test('what a worker holds is left to it, and goes when it is done', async (t) => {
  const sender = await service.makeSender()
  await acceptMany(sender, 'held@harbor.example', 1)
  const workerId = await queue.register()
  const claimed = await queue.claimAll(workerId)
  const { accountId } = sender
  const { id } = await core.privacy.forget(accountId, ['held@harbor.example'])
  // Not before the transactions are over that were open when it came, even those of other databases of the server.
  await until('the first sweep', async () => {
    while (await core.privacy.forgetSome());
    return (await core.privacy.request(accountId, id)).waiting === 1
  })
  t.match(await core.privacy.request(accountId, id), { state: 'running', waiting: 1, receipt: { cancelled: 0 } })
  t.equal(await countOf('delivery_queue'), 1, 'nobody takes it out of its hands')
  // What came of mail to him, and names him anew.
  await core.suppressions.add({ accountId, scope: 'address', value: 'held@harbor.example', reason: 'hardbounce' })
  await core.deliveries.record(
    claimed.map((delivery) => ({ ...delivery, workerId, outcome: quoted(BOUNCED, delivery.recipient) })),
  )
  await work(core, [{ accountId, id }])
  t.match(await core.privacy.request(accountId, id), {
    waiting: 0,
    receipt: { deliveries: 1, attempts: 1, bodies: 1, suppressions: 1 },
  })
  t.same(await tablesWith(service.sql, 'held@harbor.example'), [])
})

t.test('a person is found in a queue of more rows than are read at once', async (t) => {
  const sender = await service.makeSender()
  const scheduledAt = new Date(Date.now() + 86_400_000)
  const people = Array.from({ length: 1000 }, (_, at) => envelopeTo(`r${at}@harbor.example`))
  for (let number = 0; number < 11; number++) await acceptMessage(service, sender, { envelopes: people, scheduledAt })
  const last = [...people, envelopeTo('last@harbor.example')].slice(1)
  await acceptMessage(service, sender, { envelopes: last, scheduledAt })
  const { accountId } = sender
  const { id } = await core.privacy.forget(accountId, ['last@harbor.example', 'r7@harbor.example'])
  await until('his part to be gone', async () => {
    while (await core.privacy.forgetSome());
    return (await core.privacy.request(accountId, id)).receipt.cancelled === 13
  })
  for (const person of ['last@harbor.example', 'r7@harbor.example']) t.same(await tablesWith(service.sql, person), [])
  t.match(await core.privacy.request(accountId, id), { state: 'running', waiting: 12, receipt: { bodies: 0 } })
  await service.sql`delete from delivery_queue`
  await service.sql`update forget_requests set due_at = service_now()`
  await work(core, [{ accountId, id }])
  t.match(
    (await core.privacy.request(accountId, id)).receipt,
    { bodies: 12 },
    'the bodies go when nobody waits for them',
  )
})

t.test('a hashed opt-out holds at the claim too', async (t) => {
  const sender = await service.makeSender()
  const { accountId } = sender
  await core.suppressions.add({ accountId, scope: 'address', value: 'Opted@harbor.example', reason: 'abuse' })
  const { id } = await core.privacy.forget(accountId, ['opted@harbor.example'])
  await work(core, [{ accountId, id }])
  t.same(await tablesWith(service.sql, 'opted@harbor.example'), [])
  await service.sql`create table aside as select * from forgotten where account_id = ${accountId}`
  await service.sql`delete from forgotten where account_id = ${accountId}`
  await acceptMany(sender, 'OPTED@harbor.example', 1)
  await acceptMany(sender, 'willing@harbor.example', 1)
  await service.sql`insert into forgotten select * from aside`
  await service.sql`drop table aside`
  const claimed = await queue.claimAll(await queue.register())
  t.same(claimed.map(({ recipient, suppression }) => [recipient, suppression]).sort(), [
    ['OPTED@harbor.example', 'abuse'],
    ['willing@harbor.example', null],
  ])
})

t.test('a request that fails holds up no other', async (t) => {
  const { accountId } = await service.makeSender()
  const broken = await core.privacy.forget(accountId, ['broken@harbor.example'])
  await service.sql`update forget_requests set sealed = 'nonsense' where account_id = ${accountId}`
  const other = await core.privacy.forget(accountId, ['other@harbor.example'])
  await work(core, [{ accountId, id: other.id }])
  t.match(await core.privacy.request(accountId, broken.id), { state: 'queued' })
  // Else it comes due again among the requests of the next test.
  await service.sql`delete from forget_requests where account_id = ${accountId}`
})

t.test('a batch that takes too long is tried again with half as many messages', async (t) => {
  const sender = await service.makeSender()
  const person = 'slow@harbor.example'
  await acceptMany(sender, person, 3)
  await deliverAll()
  const request = await core.privacy.forget(sender.accountId, [person])
  const sizeOf = async (): Promise<number> => {
    const [row] = await service.sql<
      { size: number }[]
    >`select batch_size as size from forget_requests where account_id = ${sender.accountId}`
    return row?.size ?? 0
  }
  await service.sql.begin(async (holder) => {
    await holder`select from finished_deliveries where recipient_key = ${person} for update`
    await t.rejects(async () => {
      for (;;) await core.privacy.forgetSome()
    }, /statement timeout/)
  })
  t.equal(await sizeOf(), 100)
  await work(core, [{ accountId: sender.accountId, id: request.id }])
  t.equal((await core.privacy.request(sender.accountId, request.id)).receipt.deliveries, 3)
})

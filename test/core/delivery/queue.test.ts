import { type ClaimedDelivery, isDatabaseAway } from '@postrider/core'
import t from 'tap'
import { takeOverFrom } from '../../../packages/core/src/delivery/leases/lease.ts'
import { claimDue, parkedAt } from '../../helpers/claim.ts'
import { moveClock } from '../../helpers/database.ts'
import { startLossyProxy } from './lossy-proxy.ts'
import { DEFERRED, keyOf, makeQueue, openCore, recipients } from './queue-of.ts'

const HOST = 'mx1.harbor.example'

function addresses(claimed: readonly ClaimedDelivery[]): string[] {
  return claimed.map(({ recipient }) => recipient).sort()
}

const isOf =
  (domain: string) =>
  ({ recipientDomain }: { recipientDomain: string }): boolean =>
    recipientDomain === domain

t.test('ten workers that claim at once never get the same delivery, and together they get all', async (t) => {
  const { service, accept, register } = await makeQueue(t)
  for (let message = 0; message < 4; message++) await accept(recipients(100))
  const core = openCore(t, service, 10)
  const workers = await Promise.all(Array.from({ length: 10 }, register))
  const claims: ClaimedDelivery[] = []
  const unclaimed = async () =>
    (await service.sql`select 1 from delivery_queue where worker_id is null limit 1`).length > 0
  await Promise.all(
    workers.map(async (workerId) => {
      // A claim may find nothing because others are just taking the rest.
      do claims.push(...(await claimDue(core, { workerId, limit: 7 })))
      while (claims.length <= 400 && (await unclaimed()))
    }),
  )
  t.equal(claims.length, 400)
  t.equal(new Set(claims.map(keyOf)).size, 400)
  t.ok(claims.every(({ attempt }) => attempt === 1))
  const held = await Promise.all(workers.map((workerId) => core.deliveries.held(workerId)))
  t.equal(new Set(held.flat().map(keyOf)).size, 400)
  t.ok(held.filter(({ length }) => length > 0).length > 1, 'more than one worker got some')
})

t.test('what is due longest is claimed first', async (t) => {
  const { service, core, accept, register } = await makeQueue(t)
  for (const [recipient, clock] of [
    ['second@harbor.example', '-20 minutes'],
    ['first@harbor.example', '-30 minutes'],
    ['third@harbor.example', '-10 minutes'],
  ] as const) {
    await moveClock(service.sql, clock)
    await accept([recipient])
  }
  await moveClock(service.sql, '0 minutes')
  const workerId = await register()
  const order: string[] = []
  for (let claim = 0; claim < 4; claim++) order.push(...addresses(await claimDue(core, { workerId, limit: 1 })))
  t.strictSame(order, ['first@harbor.example', 'second@harbor.example', 'third@harbor.example'])
})

t.test('a claim from a cursor leaves alone what was due before it', async (t) => {
  const { service, core, accept, register } = await makeQueue(t)
  await moveClock(service.sql, '-30 minutes')
  await accept(['old@harbor.example'])
  await moveClock(service.sql, '0 minutes')
  await accept(['new@harbor.example'])
  const workerId = await register()
  const dueFrom = Date.now() - 10 * 60_000
  t.strictSame(addresses(await claimDue(core, { workerId, limit: 10, dueFrom })), ['new@harbor.example'])
  t.strictSame(addresses(await claimDue(core, { workerId, limit: 10 })), ['old@harbor.example'])
})

t.test('a scheduled delivery is not claimed before its time', async (t) => {
  const { service, accept, register, claimAll } = await makeQueue(t)
  const messageId = await accept(['lena@harbor.example'], new Date(Date.now() + 3600_000))
  const workerId = await register()
  const state = async () => (await service.core.messages.show(messageId))?.deliveries[0]?.state
  t.equal(await state(), 'scheduled')
  t.strictSame([...(await claimAll(workerId))], [])
  await moveClock(service.sql, '59 minutes')
  t.strictSame([...(await claimAll(workerId))], [])
  await moveClock(service.sql, '61 minutes')
  t.match(await claimAll(workerId), [{ recipient: 'lena@harbor.example', attempt: 1 }])
  t.equal(await state(), 'sending')
})

t.test('parked mail waits at its destination, and is claimed there by flow, whenever it is due', async (t) => {
  const { service, core, accept, register, claimAll } = await makeQueue(t)
  await accept(['a@quay.example', 'b@quay.example', 'c@pier.example'])
  const workerId = await register()
  const claimed = await claimAll(workerId)
  const [quay, pier] = [claimed.filter(isOf('quay.example')), claimed.filter(isOf('pier.example'))]
  await core.deliveries.park(workerId, parkedAt(quay, { place: 'quay', waitingFor: 'connections' }))
  await core.deliveries.park(workerId, parkedAt(pier, { place: 'pier', waitingFor: 'pause' }))
  t.same(await claimAll(workerId), [], 'it is not due')
  const [row] = await service.sql`
    select attempt, state, waiting_for, next_at between service_now() + interval '29 minutes' and service_now() + interval '91 minutes' as later
      from delivery_queue where place = 'quay'`
  t.strictSame({ ...row }, { attempt: 0, state: 'queued', waiting_for: 'connections', later: true })
  const flows = await core.deliveries.parkedFlows()
  t.strictSame(
    flows.map(({ place }) => place),
    ['pier', 'quay'],
  )
  t.same(await core.deliveries.parkedFlows(flows[1]), [], 'after the last one')
  const claim = async (destination: string, limit: number) =>
    addresses(
      await core.deliveries.claim({
        workerId,
        place: destination,
        shares: flows.slice(0, 1).map((flow) => ({ ...flow, limit })),
      }),
    )
  t.equal((await claim('quay', 1)).length, 1)
  t.strictSame(await claim('elsewhere', 10), [])
  t.equal((await claim('quay', 10)).length, 1)
  t.strictSame(await claim('quay', 10), [])
  t.strictSame(await claim('pier', 10), ['c@pier.example'])
  const [left] =
    await service.sql`select count(*)::int from delivery_queue where place is not null or waiting_for is not null`
  t.equal(left?.count, 0, 'what is claimed waits no more')
})

t.test('parked mail is due at the end of its lifetime at the latest', async (t) => {
  const { service, core, accept, register, claimAll } = await makeQueue(t)
  await accept(['a@quay.example'])
  const workerId = await register()
  await service.sql`update delivery_queue set expires_at = service_now() + interval '10 minutes'`
  await core.deliveries.park(workerId, parkedAt(await claimAll(workerId), { place: 'quay', waitingFor: 'pause' }))
  const [row] = await service.sql`select next_at = expires_at as last from delivery_queue`
  t.equal(row?.last, true)
})

t.test('a delivery given back is due when told, and the attempt does not count', async (t) => {
  const { service, core, accept, register, claimAll } = await makeQueue(t)
  const messageId = await accept(['lena@harbor.example'])
  const workerId = await register()
  const first = await claimAll(workerId)
  await core.deliveries.recordEndOfData(first.map((key) => ({ ...key, workerId, host: HOST, domainId: 1 })))
  await core.deliveries.release(workerId, first, 60)
  t.match(await core.messages.show(messageId), { deliveries: [{ state: 'queued', attempt: 0, attempts: [] }] })
  const [row] = await service.sql`select dot_at, dot_host, worker_id from delivery_queue`
  t.strictSame({ ...row }, { dot_at: null, dot_host: null, worker_id: null })
  t.strictSame([...(await claimAll(workerId))], [], 'not before its time')
  await moveClock(service.sql, '61 seconds')
  const second = await claimAll(workerId)
  t.match(second, [{ attempt: 1 }])

  await core.deliveries.record(second.map((key) => ({ ...key, workerId, outcome: DEFERRED })))
  await moveClock(service.sql, '10 minutes')
  const third = await claimAll(workerId)
  t.match(third, [{ attempt: 2 }])
  await core.deliveries.release(workerId, third, 0)
  t.match(await core.messages.show(messageId), { deliveries: [{ state: 'deferred', attempt: 1 }] })
})

/** What a delivery can't be given back or its dot written with. */
const STALE: Readonly<
  Record<string, (claimed: ClaimedDelivery, others: { workerId: number }) => ClaimedDelivery & { workerId?: number }>
> = {
  'with the number of an earlier attempt': (claimed) => ({ ...claimed, attempt: claimed.attempt - 1 }),
  'with the number of a later attempt': (claimed) => ({ ...claimed, attempt: claimed.attempt + 1 }),
  'by a worker that does not hold it': (claimed, { workerId }) => ({ ...claimed, workerId }),
  'of another recipient': (claimed) => ({ ...claimed, recipientNo: 7 }),
  'of a message nobody knows': (claimed) => ({ ...claimed, messageId: '01980000-0000-7000-8000-000000000000' }),
}

t.test('a stale delivery is neither given back nor may its final dot be written', async (t) => {
  const { service, core, accept, register, claimAll } = await makeQueue(t)
  await accept(['lena@harbor.example'])
  const [own, other] = [await register(), await register()]
  const [claimed] = await claimAll(own)
  if (!claimed) throw new Error('nothing was claimed')
  for (const [what, stale] of Object.entries(STALE)) {
    const wrong = { workerId: own, ...stale(claimed, { workerId: other }) }
    t.strictSame(await core.deliveries.recordEndOfData([{ ...wrong, host: HOST, domainId: 1 }]), [false], what)
    await core.deliveries.release(wrong.workerId, [wrong], 0)
    const [row] = await service.sql`select worker_id, attempt, state, dot_at from delivery_queue`
    t.match(row, { worker_id: own, attempt: 1, state: 'sending', dot_at: null }, what)
  }
  t.strictSame(
    await core.deliveries.recordEndOfData([{ ...claimed, workerId: own, host: HOST, domainId: 1 }]),
    [true],
    'the right one may',
  )
})

t.test('permissions for many ends of data are given one by one, in the order requested', async (t) => {
  const { core, service, accept, register, claimAll } = await makeQueue(t)
  await accept(recipients(6))
  const workerId = await register()
  const claimed = (await claimAll(workerId)).sort((a, b) => a.recipientNo - b.recipientNo)
  const dots = claimed.map((key, at) => ({
    ...key,
    workerId,
    host: HOST,
    domainId: 1,
    attempt: at % 3 === 1 ? 9 : key.attempt,
  }))
  const asked = [...dots].reverse()
  t.strictSame(
    await core.deliveries.recordEndOfData(asked),
    asked.map(({ attempt }) => attempt === 1),
  )
  const noted = await service.sql`select recipient_no from delivery_queue where dot_at is not null order by 1`
  t.strictSame(
    noted.map(({ recipient_no }) => recipient_no),
    [0, 2, 3, 5],
  )
})

t.test('deliveries claimed by a statement whose answer was lost are found again and given back', async (t) => {
  const { service, core, accept, register, claimAll } = await makeQueue(t)
  const proxy = await startLossyProxy(t, service.env.DATABASE_URL as string)
  const behind = openCore(t, service, 1, proxy.url)
  const workerId = await register()
  await accept(['known@harbor.example'])
  // Also prepares the statement, so that the next time it is one question and one answer.
  const known = await claimDue(behind, { workerId, limit: 10 })
  await accept(recipients(5))
  const shares = known.map((one) => ({ accountId: one.accountId, class: one.class, limit: 10 }))
  proxy.loseNextAnswer()
  t.ok(isDatabaseAway(await behind.deliveries.claim({ workerId, shares }).catch((error: unknown) => error)))

  const held = await behind.deliveries.held(workerId)
  t.equal(held.length, 6, 'the claim was committed')
  const unknown = held.filter((key) => !known.some((one) => keyOf(one) === keyOf(key)))
  t.equal(unknown.length, 5)
  await behind.deliveries.release(workerId, unknown, 0)
  t.strictSame((await core.deliveries.held(workerId)).map(keyOf), known.map(keyOf))
  const again = await claimAll(workerId)
  t.equal(again.length, 5)
  t.ok(again.every(({ attempt }) => attempt === 1))
})

t.test(
  'mail that the operator holds until its end is never sent, whatever happens to the worker that ends it',
  async (t) => {
    const { service, core, accept, register, claimAll } = await makeQueue(t)
    await accept(recipients(2))
    const { id } = await core.queue.plan('hold', { all: true })
    await core.queue.confirm(id, 'hold')
    while (await core.queue.workSome());
    await moveClock(service.sql, '73 hours')
    const workerId = await register()
    const claimed = await claimAll(workerId)
    const held = (deliveries: readonly ClaimedDelivery[]) => deliveries.map(({ isHeld }) => isHeld)
    t.strictSame(held(claimed), [true, true])
    await core.deliveries.release(workerId, claimed, 0)
    t.strictSame(held(await claimAll(workerId)), [true, true], 'given back, as after a claim whose answer was lost')
    await service.sql.begin((transaction) => takeOverFrom(transaction, [workerId]))
    t.strictSame(held(await claimAll(await register())), [true, true], 'taken over from a worker that died')
  },
)

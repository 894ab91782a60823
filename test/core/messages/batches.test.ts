import { dueFromOf, type LoadedMessage } from '@postrider/core'
import t from 'tap'
import { claimDue } from '../../helpers/claim.ts'
import { moveClock } from '../../helpers/database.ts'
import { registerWorker } from '../../helpers/lease.ts'
import { makeService, type Sender, type TestService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { refused } from '../refused.ts'
import { acceptMessage } from '../submission.ts'

const HOUR = 3_600_000
const by = { keyId: null, address: null }

async function makeBatch(
  service: TestService,
  sender: Sender,
): Promise<{ accountId: number; id: string; by: typeof by }> {
  return { accountId: sender.accountId, id: await service.core.batches.create(sender.accountId), by }
}

/** What becomes of an accepted message: its state, and the seconds until it is due. */
async function standing({ sql }: TestService, messageId: string) {
  const [row] = await sql<{ state: string; seconds: number | null; reason: string | null }[]>`
    select state, extract(epoch from next_at - service_now())::float8 as seconds, reason from deliveries
     where message_id = ${messageId}::uuid`
  if (!row) throw new Error('there is no such delivery')
  return row
}

function inHours(hours: number): Date {
  return new Date(Date.now() + hours * HOUR)
}

t.test('what is scheduled in a batch is paused, and resumed for when it was due', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const act = await makeBatch(service, sender)
  const batchId = act.id
  const { messageId } = await acceptMessage(service, sender, { batchId, scheduledAt: inHours(2) })
  const other = await acceptMessage(service, sender, { scheduledAt: inHours(2) })
  await service.core.batches.hold(act, 'pause')
  t.ok(Number((await standing(service, messageId)).seconds) > 1e9, 'it is never due')
  t.ok(Number((await standing(service, other.messageId)).seconds) < 7300, 'what is of no batch is let alone')
  const later = await acceptMessage(service, sender, { batchId, scheduledAt: inHours(3) })
  t.ok(Number((await standing(service, later.messageId)).seconds) > 1e9, 'what comes into it later is held back too')
  t.same(await service.core.batches.list(sender.accountId), [{ id: batchId, state: 'pause' }])
  await service.core.batches.resume(act)
  t.match(await standing(service, messageId), { state: 'scheduled' })
  t.ok(Math.abs(Number((await standing(service, messageId)).seconds) - 7200) < 30)
  t.ok(Math.abs(Number((await standing(service, later.messageId)).seconds) - 10_800) < 30)
  t.same(await service.core.batches.list(sender.accountId), [])
})

t.test('what is cancelled is dropped permanently, and says so', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const act = await makeBatch(service, sender)
  const { messageId } = await acceptMessage(service, sender, { batchId: act.id, scheduledAt: inHours(2) })
  await service.core.batches.hold(act, 'cancel')
  t.match(await standing(service, messageId), { state: 'dropped', reason: 'cancelled' })
  const later = await acceptMessage(service, sender, { batchId: act.id, scheduledAt: inHours(2) })
  t.match(await standing(service, later.messageId), { state: 'dropped', reason: 'cancelled' })
  const story = await service.core.messages.show(messageId)
  t.match(story?.events.at(-1), { type: 'dropped', detail: { reason: 'cancelled' } })
  await service.core.batches.resume(act)
  t.match(await standing(service, messageId), { state: 'dropped', reason: 'cancelled' })
})

t.test('what was paused can be cancelled', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const act = await makeBatch(service, sender)
  const { messageId } = await acceptMessage(service, sender, { batchId: act.id, scheduledAt: inHours(2) })
  await service.core.batches.hold(act, 'pause')
  t.equal(await refused(service.core.batches.hold(act, 'cancel')), 'batchHasState')
  await service.core.batches.hold(act, 'cancel', { again: true })
  t.match(await standing(service, messageId), { state: 'dropped', reason: 'cancelled' })
})

t.test(
  'a delivery that another transaction has in flight when its batch is cancelled is dropped as well',
  async (t) => {
    const service = await makeService(t)
    const sender = await service.makeSender()
    const act = await makeBatch(service, sender)
    const { messageId } = await acceptMessage(service, sender, { batchId: act.id, scheduledAt: inHours(2) })
    const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>()
    const { promise: isCancelling, resolve: cancelling } = Promise.withResolvers<void>()
    const other = service.sql.begin(async (sql) => {
      await sql`update delivery_queue set waiting_for = waiting_for where message_id = ${messageId}::uuid`
      locked()
      await isCancelling
    })
    await isLocked
    const cancelled = service.core.batches.hold(act, 'cancel')
    await until('the batch to wait, or to be cancelled', async () => {
      const [row] = await service.sql<{ waits: boolean; done: boolean }[]>`
      select exists (select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()) as waits,
             exists (select from batches where id = ${act.id} and state is not null) as done`
      return row?.waits || row?.done
    })
    cancelling()
    await Promise.all([other, cancelled])
    t.match(await standing(service, messageId), { state: 'dropped', reason: 'cancelled' })
  },
)

t.test('a message is paused or sent, never both, however the two meet', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  for (let round = 0; round < 20; round++) {
    const act = await makeBatch(service, sender)
    const accepts = Array.from({ length: 8 }, () =>
      acceptMessage(service, sender, { batchId: act.id, scheduledAt: inHours(2) }),
    )
    await new Promise((resolve) => setTimeout(resolve, round % 5))
    await service.core.batches.hold(act, 'pause')
    for (const { messageId } of await Promise.all(accepts)) {
      t.ok(Number((await standing(service, messageId)).seconds) > 1e9)
    }
  }
})

t.test('a batch of another account, or none, is unknown', async (t) => {
  const service = await makeService(t)
  const [sender, stranger] = [await service.makeSender(), await service.makeSender()]
  const act = await makeBatch(service, sender)
  const { messageId } = await acceptMessage(service, sender, { batchId: act.id, scheduledAt: inHours(2) })
  const { accountId } = stranger
  t.equal(await refused(service.core.batches.hold({ ...act, accountId }, 'cancel')), 'batchUnknown')
  t.equal(await refused(service.core.batches.resume({ ...act, accountId })), 'batchUnknown')
  t.equal(await service.core.batches.isOpen(accountId, act.id), false)
  t.match(await standing(service, messageId), { state: 'scheduled' })
})

t.test('batches past their time are forgotten, paused ones are not', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const [old, paused] = [await makeBatch(service, sender), await makeBatch(service, sender)]
  await acceptMessage(service, sender, { batchId: old.id, scheduledAt: inHours(2) })
  await acceptMessage(service, sender, { batchId: paused.id, scheduledAt: inHours(2) })
  await service.core.batches.hold(paused, 'pause')
  t.equal(await service.core.batches.isOpen(sender.accountId, old.id), true)
  await moveClock(service.sql, '61 days')
  t.equal(await service.core.batches.isOpen(sender.accountId, old.id), false)
  t.equal(await service.core.batches.forgetOld(), 2, 'the batch, and what it had')
  t.equal(await service.core.batches.forgetOld(), 0)
  t.same(await service.core.batches.list(sender.accountId), [{ id: paused.id, state: 'pause' }])
})

t.test('there is an end to batches held at a time', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const act = await makeBatch(service, sender)
  await service.sql`insert into batches (account_id, id, state)
                    select ${sender.accountId}, 'held ' || n, 'pause' from generate_series(1, 100) n`
  t.equal(await refused(service.core.batches.hold(act, 'pause')), 'batchesTooMany')
})

t.test('what was held back is dated from its release, and what was not from when it was due', async (t) => {
  const service = await makeService(t)
  const { core, sql } = service
  const sender = await service.makeSender()
  const act = await makeBatch(service, sender)
  const held = await acceptMessage(service, sender, { batchId: act.id, scheduledAt: inHours(2) })
  const other = await acceptMessage(service, sender, { scheduledAt: inHours(2) })
  await core.batches.hold(act, 'pause')
  await moveClock(sql, '9 days')
  await core.batches.resume(act)
  const { workerId } = await registerWorker(t, core)
  const claimed = await claimDue(core, { workerId, limit: 10 })
  const messages = await core.messages.load(claimed.map(({ messageId }) => messageId))
  const plain = (id: string): string => id.replaceAll('-', '')
  const dated = new Map(
    claimed.map((one) => [plain(one.messageId), dueFromOf(messages.get(one.messageId) as LoadedMessage, one)]),
  )
  t.ok(Math.abs(Number(dated.get(plain(held.messageId))) - inHours(9 * 24).getTime()) < 60_000, 'now')
  const due = [...messages.values()].find(({ id }) => plain(id) === plain(other.messageId))?.dueFrom.getTime()
  t.equal(dated.get(plain(other.messageId)), due as number, 'when it was due')
})

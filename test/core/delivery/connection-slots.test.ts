import t, { type Test } from 'tap'
import { registerWorker } from '../../helpers/lease.ts'
import { isInTime } from '../../helpers/pace.ts'
import { until } from '../../helpers/until.ts'
import { makeQueue, openCore } from './queue-of.ts'

const PLACE = 'quay'

async function makeSlots(t: Test) {
  const { service, core, register } = await makeQueue(t)
  const { slots } = core.deliveries
  const take = async (workerId: number, count: number, limit = 5, destination = PLACE): Promise<number[]> =>
    (await slots.take(workerId, [{ place: destination, limit, count }])).map(({ no }) => no).sort((a, b) => a - b)
  return { service, core, register, slots, take }
}

t.test('a worker gets the slots it wants, up to the limit of all workers', async (t) => {
  const { register, take } = await makeSlots(t)
  const [one, other] = [await register(), await register()]
  t.strictSame(await take(one, 3), [1, 2, 3])
  t.strictSame(await take(other, 3), [4, 5])
  t.strictSame(await take(other, 1), [])
  t.strictSame(await take(other, 1, 5, 'pier'), [1], 'another destination has its own')
})

t.test('a slot that was freed is given again, only by the worker that had it', async (t) => {
  const { register, take, slots } = await makeSlots(t)
  const [one, other] = [await register(), await register()]
  await take(one, 5)
  await slots.free(other, [{ place: PLACE, no: 2 }])
  t.strictSame(await take(other, 1), [])
  await slots.free(one, [{ place: PLACE, no: 2 }])
  t.strictSame(await take(other, 2), [2])
})

t.test('after the limit was lowered, no slot is given until fewer are in use', async (t) => {
  const { register, take, slots } = await makeSlots(t)
  const [one, other] = [await register(), await register()]
  await take(one, 5)
  await slots.free(
    one,
    [1, 2].map((no) => ({ place: PLACE, no })),
  )
  t.strictSame(await take(other, 5, 3), [], 'three are in use')
  await slots.free(one, [{ place: PLACE, no: 5 }])
  t.strictSame(await take(other, 5, 3), [1])
})

t.test('twenty sessions that take at once never get more than the limit, and together they get all', async (t) => {
  const { service, register } = await makeSlots(t)
  const core = openCore(t, service, 20)
  const workers = await Promise.all(Array.from({ length: 20 }, register))
  const destinations = ['a', 'b', 'c']
  for (let round = 0; round < 10; round++) {
    const taken = await Promise.all(
      workers.map((workerId, at) =>
        core.deliveries.slots.take(
          workerId,
          // In different orders: the statement has one of its own, or they would wait for each other for ever.
          (at % 2 ? destinations : destinations.toReversed()).map((destination) => ({
            place: destination,
            limit: 7,
            count: 2,
          })),
        ),
      ),
    )
    const [row] =
      await service.sql`select max(count)::int as most from (select count(*) from connection_slots group by place) c`
    t.ok((row?.most as number) <= 7, `${row?.most} of 7`)
    await Promise.all(workers.map((workerId, at) => core.deliveries.slots.free(workerId, taken[at] ?? [])))
  }
  const left = await Promise.all(
    workers.map((workerId) => core.deliveries.slots.take(workerId, [{ place: 'a', limit: 7, count: 2 }])),
  )
  const again = await core.deliveries.slots.take(workers[0] as number, [{ place: 'a', limit: 7, count: 7 }])
  t.equal(left.flat().length + again.length, 7)
})

t.test('a worker that is presumed dead gets none, and those it had are free within ten seconds', async (t) => {
  const { core, take } = await makeSlots(t)
  const dead = await core.deliveries.register({ host: 'dead.test', pid: 1 })
  const own = await registerWorker(t, core)
  const alive = own.workerId
  await take(dead.workerId, 5)
  await dead.abandon()
  const watch = core.deliveries.watchWorkers(alive)
  const began = performance.now()
  const got = await until('a free slot', async () => {
    await own.beat()
    await watch.takeOver()
    const slots = await take(alive, 1)
    return slots.length > 0 ? slots : undefined
  })
  t.strictSame(got, [1])
  t.ok(isInTime(began, 10_000))
  t.strictSame(await take(dead.workerId, 1), [])
})

t.test('slots of a worker that stopped without freeing them are found', async (t) => {
  const { core, register, take, slots } = await makeSlots(t)
  const stopped = await core.deliveries.register({ host: 'stopped.test', pid: 1 })
  await take(stopped.workerId, 5)
  await stopped.release()
  const other = await register()
  await slots.freeThoseOfOthers()
  t.strictSame(await take(other, 1), [1])
})

t.test('slots of which a worker knows nothing are freed, those in use are kept', async (t) => {
  const { register, take, slots } = await makeSlots(t)
  const [one, other] = [await register(), await register()]
  await take(one, 3)
  await take(other, 1)
  await slots.keep(one, [{ place: PLACE, no: 2 }])
  t.strictSame(await take(other, 5), [1, 3, 5])
})

t.test('after a crash of the database no slot is given until workers have inserted theirs again', async (t) => {
  const { service, register, take, slots } = await makeSlots(t)
  const [one, other] = [await register(), await register()]
  const before = await slots.since()
  t.strictSame(await take(one, 4), [1, 2, 3, 4])
  // A crash empties unlogged tables.
  await service.sql`truncate connection_slots, connection_slots_since`
  t.strictSame(await take(other, 5), [], 'before any worker has noticed')
  const after = await slots.since()
  t.not(after, before)
  t.equal(await slots.since(), after)
  t.strictSame(await take(other, 5), [], 'while workers insert theirs')
  await slots.restore(
    one,
    [1, 2, 3, 4].map((no) => ({ place: PLACE, no })),
  )
  const got = await until('slots', async () => {
    const taken = await take(other, 5)
    return taken.length > 0 ? taken : undefined
  })
  t.strictSame(got, [5])
})

import type { Core, Slot, SlotRequest } from '@postrider/core'
import { createLog } from '@postrider/core'
import t from 'tap'
import { Slots } from '../../packages/delivery/src/destinations/connections/slots.ts'
import { until } from '../helpers/until.ts'

/** The table of slots of one destination, whose responses can be lost. */
function makeTable(limit: number) {
  const rows = new Map<number, number>()
  let isLosing = false
  const answer = async <T>(value: T): Promise<T> => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    if (!isLosing) return value
    isLosing = false
    throw Object.assign(new Error('the response was lost'), { code: 'ECONNRESET' })
  }
  const slots = {
    take: (workerId: number, [request]: readonly SlotRequest[]) => {
      const free = Array.from({ length: limit }, (_, at) => at + 1).filter((no) => !rows.has(no))
      const taken = free.slice(0, request?.count ?? 0)
      for (const no of taken) rows.set(no, workerId)
      return answer(taken.map((no): Slot => ({ place: 'quay', no })))
    },
    free: (workerId: number, freed: readonly Slot[]) => {
      for (const { no } of freed) if (rows.get(no) === workerId) rows.delete(no)
      return answer(undefined)
    },
    keep: (workerId: number, kept: readonly Slot[]) => {
      for (const [no, owner] of rows) if (owner === workerId && !kept.some((one) => one.no === no)) rows.delete(no)
      return answer(undefined)
    },
    since: async () => 'always',
    restore: async () => {},
    freeThoseOfOthers: async () => {},
  }
  return {
    rows,
    loseNext: () => {
      isLosing = true
    },
    worker: (workerId: number) =>
      new Slots({ core: { deliveries: { slots } } as unknown as Core, log: createLog('test', 'silent'), workerId }),
  }
}

const REQUEST = { place: 'quay', limit: 2, count: 1 }

t.test('slots that were taken by a statement whose response was lost are freed', async (t) => {
  const { rows, loseNext, worker } = makeTable(2)
  const slots = worker(1)
  t.teardown(() => slots.close())
  loseNext()
  await t.rejects(slots.take({ ...REQUEST, count: 2 }))
  t.equal(rows.size, 2)
  await until('the rows to be gone', () => rows.size === 0 || undefined)
  t.strictSame(await slots.take(REQUEST), [1])
})

t.test('a statement that frees and whose response was lost takes nothing from what was taken after it', async (t) => {
  const { rows, loseNext, worker } = makeTable(2)
  const slots = worker(1)
  t.teardown(() => slots.close())
  t.strictSame(await slots.take(REQUEST), [1])
  loseNext()
  slots.free({ place: 'quay', no: 1 })
  await until('it to be free', () => rows.size === 0 || undefined)
  t.strictSame(await slots.take(REQUEST), [1])
  // Its check of what it holds frees what it took without knowing.
  loseNext()
  await t.rejects(slots.take(REQUEST))
  await until('the check', () => rows.size === 1 || undefined)
  t.equal(rows.get(1), 1, 'it is still held')
})

import { BULK, type Core, type DeliveryClass, NORMAL, URGENT } from '@postrider/core'
import t, { type Test } from 'tap'
import type { Dispatcher } from '../../packages/delivery/src/queue/dispatcher.ts'
import { DueClaims } from '../../packages/delivery/src/queue/due-claims.ts'
import { registerWorker } from '../helpers/lease.ts'
import { makeService } from '../helpers/service.ts'

/** A queue with due mail of accounts that exist there only, and a worker's claims of it. */
async function makeQueue(t: Test, { capacity = 2000, reserve = () => 0 as number } = {}) {
  const { sql, core } = await makeService(t)
  const { workerId } = await registerWorker(t, core)
  const counts = new Map<string, number>()
  const dispatcher = {
    capacity,
    mayClaim: () => true,
    reserveFor: reserve,
    lookForParked: async () => {},
    take: async (claimed: readonly { accountId: number; class: DeliveryClass }[]) => {
      for (const { accountId, class: of } of claimed) {
        const key = `${accountId}.${of}`
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
    },
  } as unknown as Dispatcher
  return {
    sql,
    claims: new DueClaims({ core, workerId, dispatcher, onAnswer: () => {} }),
    claimed: (accountId: number, of: DeliveryClass = NORMAL): number => counts.get(`${accountId}.${of}`) ?? 0,
    fill: (accountId: number, rows: number, of: DeliveryClass = NORMAL) => sql`
      insert into delivery_queue (message_id, recipient_no, account_id, class, state, recipient, recipient_key, recipient_domain,
             kind, next_at, expires_at)
      select uuidv7(), number, ${accountId}, ${of}, 'queued', 'a@d.example', 'a@d.example', 'd.example', 'to', now(),
             now() + interval '1 day'
        from generate_series(1, ${rows}::int) as number`,
  }
}

const flow = (accountId: number, of: DeliveryClass = NORMAL) => ({ accountId, class: of })

t.test('more flows than a claim takes all get their turns, however the worker came to know of them', async (t) => {
  const { claims, fill, claimed } = await makeQueue(t)
  const accounts = Array.from({ length: 45 }, (_, at) => at + 1)
  for (const account of accounts) await fill(account, 300)
  claims.know([flow(1), flow(2), flow(3)])
  for (const account of accounts.slice(3)) claims.know([flow(account)])
  for (let claim = 0; claim < 12; claim++) await claims.claim()
  const shares = accounts.map((account) => claimed(account))
  t.ok(Math.min(...shares) > 0, 'each has got some')
  t.ok(Math.max(...shares) <= 3 * Math.min(...shares), `${Math.min(...shares)} to ${Math.max(...shares)}`)
})

t.test('urgent flows get most of what is claimed, and leave some to others', async (t) => {
  const { claims, fill, claimed } = await makeQueue(t)
  const urgent = Array.from({ length: 40 }, (_, at) => at + 1)
  for (const account of urgent) await fill(account, 300, URGENT)
  await fill(100, 1000)
  await fill(101, 1000, BULK)
  await claims.look(true)
  for (let claim = 0; claim < 10; claim++) await claims.claim()
  const sum = urgent.reduce((all, account) => all + claimed(account, URGENT), 0)
  t.ok(claimed(100) > 0, 'normal mail')
  t.ok(claimed(101, BULK) > 0, 'bulk mail')
  t.ok(sum > 10 * (claimed(100) + claimed(101, BULK)))
})

t.test('without capacity, flows that have none of the reserve left are passed over', async (t) => {
  const full = new Set(Array.from({ length: 40 }, (_, at) => at + 1))
  const reserve = ((of: { accountId: number }) => (full.has(of.accountId) ? 0 : 25)) as () => number
  const { claims, fill, claimed } = await makeQueue(t, { capacity: 0, reserve })
  for (const account of full) await fill(account, 10)
  await fill(100, 3)
  await claims.look(true)
  await claims.claim()
  t.equal(claimed(100), 3)
  t.equal(claims.lackedCapacity, true)
})

t.test('a claim begins where the last one of its flow ended', async (t) => {
  const { claims, fill, claimed, sql } = await makeQueue(t)
  await fill(500, 100)
  await claims.look(true)
  await claims.claim()
  await sql`
    insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind, next_at,
           expires_at)
    values (uuidv7(), 0, 500, 'queued', 'a@other.example', 'a@other.example', 'other.example', 'to', now() - interval '10 minutes',
            now() + interval '1 day')`
  claims.know([flow(500)])
  await claims.claim()
  t.equal(claimed(500), 100, 'from where the last one ended')
  await sql`update delivery_queue set next_at = now() where recipient_domain = 'other.example'`
  claims.know([flow(500)])
  await claims.claim()
  t.equal(claimed(500), 101)
})

t.test('after one look that took long the next one is not delayed, after two it is', async (t) => {
  const dueFlows = async () => {
    await new Promise((resolve) => setTimeout(resolve, 200))
    return []
  }
  const core = { deliveries: { dueFlows } } as unknown as Core
  const dispatcher = { lookForParked: async () => {} } as unknown as Dispatcher
  const claims = new DueClaims({ core, workerId: 1, dispatcher, onAnswer: () => {} })
  t.equal(await claims.look(true), true)
  t.equal(await claims.look(true), true, 'it may have been a stall')
  t.equal(await claims.look(true), false, 'the queue is large')
})

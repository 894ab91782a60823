import { type ClaimedDelivery, createCore, createLog } from '@postrider/core'
import t, { type Test } from 'tap'
import { Suspects } from '../../../packages/delivery/src/common/suspects.ts'
import { answered, postrider } from '../../cli/postrider.ts'
import { moveClock } from '../../helpers/database.ts'
import { registerWorker } from '../../helpers/lease.ts'
import { makeQueue, openCore, recipients } from './queue-of.ts'

/** A queue with one message to three, and workers that can be lost. */
async function makeLosses(t: Test) {
  const queue = await makeQueue(t)
  const { service } = queue
  const id = await queue.accept(recipients(3))
  const ahead = { ms: 0 }
  const observer = createCore({
    sql: service.sql,
    config: service.config,
    log: createLog('test', 'silent'),
    clock: { now: () => Date.now(), monotonic: () => performance.now() + ahead.ms },
  })
  t.teardown(() => observer.readiness.close())
  const told: string[] = []
  const watch = observer.deliveries.watchWorkers(undefined, {
    onSetAside: (messageId, no) => told.push(`${messageId} ${no}`),
  })
  const leases = openCore(t, service, 12)
  let minutes = 0
  /** A worker takes all that is due, is at some of it, and is lost. */
  async function lose(
    at?: (claimed: readonly ClaimedDelivery[], workerId: number) => Promise<void>,
  ): Promise<number[]> {
    const { workerId } = await registerWorker(t, leases)
    const claimed = await queue.claimAll(workerId)
    await at?.(claimed, workerId)
    await watch.takeOver()
    ahead.ms += 61_000
    await watch.takeOver()
    // Some wait a minute or five.
    minutes += 6
    await moveClock(service.sql, `${minutes} minutes`)
    return claimed.map(({ recipientNo }) => recipientNo).sort()
  }
  const alone = (no: number) => async (claimed: readonly ClaimedDelivery[], workerId: number) => {
    const one = claimed.find(({ recipientNo }) => recipientNo === no)
    await service.core.deliveries.noteAlone(workerId, one, undefined)
  }
  return { ...queue, id, told, lose, alone, short: id.replaceAll('-', '') }
}

t.test(
  'a delivery during whose building alone two workers die is set aside, with an alarm; the others are not',
  async (t) => {
    const { lose, alone, told, core, id, short } = await makeLosses(t)
    await lose()
    await lose(alone(1))
    t.strictSame(told, [], 'once may be chance')
    await lose(alone(1))
    t.strictSame(told, [`${short} 1`])
    t.match(await core.deliveries.setAside(), [{ messageId: short, recipientNo: 1, attempt: 3 }])
    t.strictSame(await lose(), [0, 2], 'the others go on, and it is not claimed')
    const deliveries = (await core.messages.show(id))?.deliveries ?? []
    t.strictSame(
      deliveries.map(({ reason }) => reason),
      [null, 'workers died while building this message', null],
    )
  },
)

t.test('deliveries that were only in the hands of lost workers are never set aside, however often', async (t) => {
  const { lose, alone, core } = await makeLosses(t)
  for (let loss = 0; loss < 6; loss++) await lose(loss === 3 ? alone(0) : undefined)
  t.equal((await core.deliveries.setAside()).length, 0)
})

t.test('past its final dot a message was written, and is not to blame', async (t) => {
  const { lose, core } = await makeLosses(t)
  for (let loss = 0; loss < 3; loss++) {
    await lose(async ([one], workerId) => {
      if (!one) return
      await core.deliveries.noteAlone(workerId, one, undefined)
      await core.deliveries.recordEndOfData([{ ...one, workerId, host: 'mx1.harbor.example', domainId: 1 }])
    })
  }
  t.equal((await core.deliveries.setAside()).length, 0)
})

t.test('suspects are written one at a time, each noted in the database before, and all others at once', async (t) => {
  const { lose, queue, core, service } = await makeLosses(t).then((made) => ({ ...made, queue: made }))
  await lose()
  const workerId = await queue.register()
  const claimed = await queue.claimAll(workerId)
  const suspects = new Suspects({ core, log: createLog('test', 'silent'), workerId })
  const noted = async () =>
    (await service.sql<{ no: number }[]>`select recipient_no as no from delivery_queue where alone`).map(({ no }) => no)
  let writing = 0
  const write = async (no: number): Promise<number[]> => {
    t.equal(++writing, 1, 'nothing else is being written')
    const now = await noted()
    writing--
    t.strictSame(now, [no])
    return now
  }
  await Promise.all(claimed.map((one) => suspects.write(one, () => write(one.recipientNo))))
  t.strictSame(await noted(), [], 'and nothing is noted when all are written')
  const [innocent] = claimed.map((one) => ({ ...one, abandoned: 0 }))
  await suspects.write(innocent as ClaimedDelivery, async () => t.strictSame(await noted(), []))
})

t.test('one account with many suspects delays those of another by one message', async (t) => {
  const queue = await makeLosses(t)
  await queue.lose()
  const workerId = await queue.register()
  const [suspect] = await queue.claimAll(workerId)
  const suspects = new Suspects({ core: queue.core, log: createLog('test', 'silent'), workerId })
  const [many, one] = [1, 2]
  const written: number[] = []
  const write = (accountId: number) =>
    suspects.write({ ...(suspect as ClaimedDelivery), accountId }, async () => written.push(accountId))
  await Promise.all([...Array.from({ length: 50 }, () => write(many)), write(one)])
  t.equal(written.length, 51)
  t.strictSame(written.slice(0, 3), [many, many, one])
})

t.test('what is set aside is listed and shown, and released or failed by hand', async (t) => {
  const { lose, alone, core, id, short, service } = await makeLosses(t)
  t.match(await answered(service.env, 'message', 'aside'), [])
  const idle = await postrider(service.env, 'message', 'release', short)
  t.equal(idle.code, 1)
  t.match(idle.stderr, /no delivery of message .* is set aside/)
  t.equal((await postrider(service.env, 'message', 'fail')).code, 2)
  for (let round = 0; round < 2; round++) {
    await lose()
    await lose(alone(1))
    await lose(alone(1))
    t.match(await answered(service.env, 'message', 'aside'), [{ messageId: short, recipientNo: 1 }])
    const shown = await postrider(service.env, 'message', 'show', short)
    t.match(shown.stdout, /set aside[\s\S]*delivery 1 is set aside: workers died/)
    if (round === 0) {
      t.match(await answered(service.env, 'message', 'release', short), { id: short, released: 1 })
      t.match(await answered(service.env, 'message', 'aside'), [])
    }
  }
  t.match(await answered(service.env, 'message', 'fail', short, '--yes'), { id: short, failed: 1 })
  const story = await core.messages.show(id)
  t.match(story?.deliveries[1], { state: 'dropped', reason: 'set-aside' })
  t.match(story?.events.at(-1), { type: 'dropped', recipientNo: 1, detail: { reason: 'set-aside' } })
})

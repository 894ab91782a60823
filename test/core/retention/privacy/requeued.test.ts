import type { Outcome } from '@postrider/core'
import t from 'tap'
import { holding, untilBlocked } from '../../../helpers/blocked.ts'
import { until } from '../../../helpers/until.ts'
import { BOUNCED, makeQueue } from '../../delivery/queue-of.ts'

/** One after which the recipient is not suppressed. */
const BLOCKED = { ...BOUNCED, reply: { code: 554, enhanced: '5.7.1', text: 'blocked' } } as Outcome

t.test('a delivery that returns to the queue while its recipient is looked for there is erased, too', async (t) => {
  const { service, core, sender, accept, register, claimAll } = await makeQueue(t)
  const messageId = await accept(['ann@harbor.example'])
  const workerId = await register()
  const [claimed] = await claimAll(workerId)
  await core.deliveries.record([{ ...(claimed as NonNullable<typeof claimed>), workerId, outcome: BLOCKED }])

  const { requeueing, searching } = await holding(t, service, async (locker) => {
    await locker`lock table delivery_queue in share mode`
    const requeueing = core.messages.requeue({ messageId })
    await untilBlocked(locker, 1)
    await core.privacy.forget(sender.accountId, ['ann@harbor.example'])
    await until('the search of the queue', async () => {
      await core.privacy.forgetSome()
      const [request] = await service.sql<{ stage: string }[]>`select stage from forget_requests`
      return request?.stage === 'queue'
    })
    let isOver = false
    const searching = core.privacy.forgetSome().finally(() => {
      isOver = true
    })
    await untilBlocked(locker, 2, () => isOver)
    return { requeueing, searching }
  })
  t.match(await requeueing, { problem: null, requeued: [{ recipient: 'ann@harbor.example' }] })
  await searching
  await until('the recipient to be erased', async () => {
    await core.privacy.forgetSome()
    return (await service.sql`select from forget_requests where state = 'done'`).count > 0
  })
  const left = await service.sql`select recipient from deliveries where position('@' in recipient) > 0`
  t.equal(left.count, 0)
})

import t from 'tap'
import { holding, untilBlocked } from '../../../helpers/blocked.ts'
import { numberEvents } from '../../../helpers/number-events.ts'
import { makeService } from '../../../helpers/service.ts'
import { until } from '../../../helpers/until.ts'
import { acceptMessage, envelopeTo } from '../../submission.ts'

t.test('a file that is finished while its recipient is erased is deleted, and not left as an empty one', async (t) => {
  const service = await makeService(t)
  const { core, sql } = service
  const { accountId, ...sender } = await service.makeSender()
  await acceptMessage(service, { accountId, ...sender }, { envelopes: [envelopeTo('ann@harbor.example')] })
  await numberEvents(service)
  const day = new Date().toISOString().slice(0, 10)
  await core.exports.create(
    accountId,
    { format: 'json', startDate: day, endDate: undefined, events: [], callbackUrl: undefined, email: undefined },
    { keyId: null, address: null },
  )
  await core.privacy.forget(accountId, ['ann@harbor.example'])
  await until('the last stage of the erasure', async () => {
    await core.privacy.forgetSome()
    const [request] = await sql<{ stage: string }[]>`select stage from forget_requests`
    return request?.stage === 'last'
  })

  const both = await holding(t, service, async (locker) => {
    await locker`lock table export_parts in share mode`
    const exporting = core.exports.workSome()
    await untilBlocked(locker, 1)
    const erasing = core.privacy.forgetSome()
    await untilBlocked(locker, 2)
    return { exporting, erasing }
  })
  t.strictSame(await Promise.all([both.exporting, both.erasing]), [true, true])
  t.match(await sql`select state from forget_requests`, [{ state: 'done' }])
  t.strictSame(await core.exports.list(accountId, { limit: 10 }), [])
  t.equal((await sql`select from export_parts`).count, 0)
})

import t from 'tap'
import { addEvents, addWebhook, LOOPBACK } from '../../../delivery/webhook-worker.ts'
import { holding, untilBlocked } from '../../../helpers/blocked.ts'
import { numberEvents } from '../../../helpers/number-events.ts'
import { startReceiver } from '../../../helpers/receiver.ts'
import { makeService } from '../../../helpers/service.ts'
import { until } from '../../../helpers/until.ts'

t.test(
  'a batch that a stopping worker gives back waits for a change of its webhook, and does not end it',
  async (t) => {
    const service = await makeService(t, LOOPBACK)
    const { core, sql } = service
    const sender = await service.makeSender()
    const receiver = await startReceiver(t)
    const { id } = await addWebhook(service, sender, receiver.url)
    receiver.react = () => {}
    await addEvents(service, sender, 1)
    await numberEvents(service)
    await core.webhooks.notice()
    const [batch] = (await core.webhooks.claim(1)) ?? []
    if (!batch) throw new Error('there is no batch')
    const stopping = new AbortController()
    const delivering = core.webhooks.deliver(batch, stopping.signal)
    await until('the request', () => receiver.batches().length > 0)

    await holding(t, service, async (locker) => {
      // As a request that succeeds after failures, a change of the webhook, and its removal.
      await locker`select from webhooks where id = ${id} for update`
      stopping.abort()
      await untilBlocked(locker, 1)
      await locker`update webhook_batches set next_at = service_now() where webhook_id = ${id}`
    })
    t.equal(await delivering, 'late')
    t.match(await sql`select leased_until from webhook_batches`, [{ leased_until: null }])
  },
)

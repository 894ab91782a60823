import t from 'tap'
import { claimDue } from '../../../helpers/claim.ts'
import { erase } from '../../../helpers/erase.ts'
import { DELIVERED, makeQueue } from '../../delivery/queue-of.ts'
import { acceptMessage, envelopeTo } from '../../submission.ts'

t.test(
  "the reference of an erased recipient goes from the copies of the same mail, and others' references stay",
  async (t) => {
    const queue = await makeQueue(t)
    const { service, core } = queue
    const sender = await service.makeSender()
    const envelopes = [
      envelopeTo('una@harbor.example', {
        cc: ['desk@harbor.example'],
        bcc: ['log@harbor.example'],
        reference: 'order-una',
      }),
      envelopeTo('dva@harbor.example', {
        cc: ['desk@harbor.example'],
        reference: 'order-dva',
        referenceCc: 'copy-dva',
      }),
      envelopeTo('tri@harbor.example', { reference: 'order-tri' }),
    ]
    await acceptMessage(service, sender, { envelopes })
    const workerId = await queue.register()
    const claimed = await claimDue(core, { workerId, limit: 100 })
    await core.deliveries.record(claimed.map((delivery) => ({ ...delivery, workerId, outcome: DELIVERED })))
    const references = async () =>
      (
        await service.sql<
          { reference: string | null }[]
        >`select reference from finished_deliveries order by recipient_no`
      ).map(({ reference }) => reference)
    t.strictSame(await references(), ['order-una', 'order-una', 'order-una', 'order-dva', 'copy-dva', 'order-tri'])
    await erase(core, sender.accountId, ['una@harbor.example'])
    t.strictSame(await references(), [null, null, null, 'order-dva', 'copy-dva', 'order-tri'])
    await erase(core, sender.accountId, ['dva@harbor.example'])
    t.strictSame(await references(), [null, null, null, null, null, 'order-tri'])
  },
)

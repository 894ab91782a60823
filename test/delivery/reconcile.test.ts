import { type ClaimedDelivery, createLog } from '@postrider/core'
import t from 'tap'
import { InFlightDeliveries } from '../../packages/delivery/src/destinations/in-flight.ts'
import { GiveBack } from '../../packages/delivery/src/queue/give-back.ts'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { claimDue } from '../helpers/claim.ts'
import { registerWorker } from '../helpers/lease.ts'
import { makeService } from '../helpers/service.ts'

t.test('a worker releases what it has claimed without hearing of it, and nothing that ends meanwhile', async (t) => {
  const service = await makeService(t)
  const { deliveries } = service.core
  const envelopes = ['lena@harbor.example', 'mina@harbor.example'].map((to) => envelopeTo(to))
  await acceptMessage(service, await service.makeSender(), { envelopes })
  const { workerId } = await registerWorker(t, service.core)
  const [ending, unheard] = (await claimDue(service.core, { workerId, limit: 10 })) as [
    ClaimedDelivery,
    ClaimedDelivery,
  ]
  const inFlight = new InFlightDeliveries(() => {})
  inFlight.take(ending)
  const released: number[] = []
  const log: Record<string, unknown>[] = []
  const giveBack = new GiveBack({
    core: {
      ...service.core,
      deliveries: {
        ...deliveries,
        async held(id) {
          const held = await deliveries.held(id)
          // On the way to the worker, the response is overtaken by the end of a delivery.
          inFlight.remove(ending, undefined)
          return held
        },
        async release(id, given, seconds) {
          released.push(...given.map(({ recipientNo }) => recipientNo))
          return deliveries.release(id, given, seconds)
        },
      },
    },
    log: createLog('delivery', 'info', { write: (line) => void log.push(JSON.parse(line)) }),
    workerId,
    inFlight,
  })
  await giveBack.reconcile()
  t.strictSame(released, [unheard.recipientNo])
  t.match(log, [{ msg: 'releasing deliveries whose claim response was lost', count: 1 }])
})

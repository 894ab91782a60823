import { createRequire } from 'node:module'
import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { addPast } from './history.ts'

/** The official client of the later v5 API, as its package stands; it brings no types. Its paths are v2's. */
interface Sdk {
  readonly Configuration: { BASEURI: string; apiKey: string }
  readonly EventsController: {
    getEventsGET(
      startdate: object,
      ...options: readonly (string | number | object | null | undefined)[]
    ): Promise<{ data: Record<string, unknown>[]; status: string; totalRecords: number }>
  }
  readonly EventsEnum: Readonly<Record<string, string>>
}
const load = createRequire(import.meta.url)
const sdk = load('pepipost5') as Sdk
/** The library whose dates the client wants. */
const date = createRequire(load.resolve('pepipost5'))('moment') as (text: string) => object

const service = await makeService(t)
sdk.Configuration.BASEURI = `${await service.openApi()}/v2`

t.test('the client of v5, pointed at /v2, reads events', async (t) => {
  const sender = await service.makeSender()
  sdk.Configuration.apiKey = sender.apiKey
  await addPast(service, sender, {
    acceptedAt: '2026-01-05T10:11:12Z',
    deliveries: [
      { recipient: 'lena@harbor.example', reference: 'order-9001', code: 250, enhanced: '2.0.0', reply: 'OK' },
      { recipient: 'mina@harbor.example', state: 'dropped', reason: 'unsubscribe' },
    ],
  })
  const { getEventsGET } = sdk.EventsController
  const from = date('2026-01-01')
  const all = await getEventsGET(from, null, 'asc', date('2026-01-31'), null, null)
  t.match(all, { status: 'success', totalRecords: 2 })
  t.strictSame(
    all.data.map(({ rcptEmail, status, remarks }) => [rcptEmail, status, remarks]),
    [
      ['lena@harbor.example', 'sent', '250 2.0.0 OK'],
      ['mina@harbor.example', 'dropped', 'Email dropped: User suppressed due to unsubscription'],
    ],
  )
  const { DROPPED = '' } = sdk.EventsEnum
  const dropped = await getEventsGET(from, DROPPED, 'desc', null, 0, 10, undefined, undefined, undefined, undefined)
  t.match(dropped, { totalRecords: 1, data: [{ rcptEmail: 'mina@harbor.example' }] })
  const own = await getEventsGET(from, null, null, null, null, 1, null, 'order-9001', null, 'lena@harbor.example')
  t.match(own, { totalRecords: 1, data: [{ xapiheader: 'order-9001' }] })
  const refused: unknown = await getEventsGET(date('2026-02-01'), null, 'asc', date('2026-01-01')).catch(
    (error) => error,
  )
  t.match(refused, { errorCode: 400, errorResponse: /"error_code":161/ })
})

// Its statistics: here.

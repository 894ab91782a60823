import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { sendgridClient } from './sendgrid-client.ts'

const service = await makeService(t)
const base = await service.openApi()
const { apiKey: key } = await service.makeSender()

t.test('statistics by device, client, browser and place have the periods and empty lists', async (t) => {
  proves(
    t,
    'operation.getDevicesStats',
    'operation.getClientsStats',
    'operation.getBrowsersStats',
    'operation.getGeoStats',
  )
  const client = sendgridClient(base, key)
  for (const subject of ['devices', 'clients', 'browsers', 'geo']) {
    const qs = { start_date: '2026-03-01', end_date: '2026-03-02' }
    t.strictSame(await client({ method: 'GET', url: `/v3/${subject}/stats`, qs }), [
      200,
      [
        { date: '2026-03-01', stats: [] },
        { date: '2026-03-02', stats: [] },
      ],
    ])
    const wrong = await ask(base, { method: 'GET', path: `/${subject}/stats`, key })
    refusedV3(t, wrong, [400, /^start_date is required/, 'start_date'])
  }
})

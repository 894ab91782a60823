import t from 'tap'
import { until } from '../../helpers/until.ts'
import { refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { makeMailArrivals } from './mail-arrivals.ts'

const { service, send, story } = await makeMailArrivals(t)
const { sources } = service.core

t.test('ip_pool_name names a pool of source addresses; without pools, any name is accepted', async (t) => {
  proves(t, 'ip_pool_name')
  t.equal((await send({ ip_pool_name: 'transactional' })).status, 202)
  await sources.addPool('transactional', {})
  await sources.addPool('own', { isReserved: true })
  const text = 'The ip_pool_name must be a valid pool name.'
  await until('the API to know the pools', async () => (await send({ ip_pool_name: 'bulk' })).status === 400)
  for (const wrong of ['bulk', 'own', 'TRANSACTIONAL', 'x'.repeat(5000)]) {
    refusedV3(t, await send({ ip_pool_name: wrong }), [400, text, 'ip_pool_name'], wrong.slice(0, 20))
  }
  t.match((await story(await send({ ip_pool_name: 'transactional' }))).settings, { pool: 'transactional' })
  for (const none of [null, '']) t.equal((await send({ ip_pool_name: none })).status, 202)
  t.notHas((await story(await send({}))).settings, { pool: 'transactional' })
})

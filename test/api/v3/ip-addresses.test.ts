import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { sendgridClient } from './sendgrid-client.ts'

const service = await makeService(t)
const base = await service.openApi()
const { apiKey: key } = await service.makeSender()
const client = sendgridClient(base, key)
const get = async (url: string) => (await client({ method: 'GET', url: `/v3/ips${url}` }))[1]
const { sources } = service.core

t.test('source addresses and pools are listed, without those that only rules choose', async (t) => {
  proves(t, 'operation.listIps', 'operation.listAssignedIps', 'operation.viewIp')
  proves(t, 'operation.listIpPools', 'operation.viewIpPool', 'operation.addIps', 'operation.addIpPool')
  t.strictSame(await get(''), [])
  t.strictSame(await get('/assigned'), [])
  t.strictSame(await get('/pools'), [])
  await sources.addPool('transactional', {})
  await sources.addPool('own', { isReserved: true })
  const add = (name: string, pool: string, address: string, more = {}) =>
    sources.add({ name, pool, address, helo: `${name}.post.example`, ...more } as never)
  await add('one', 'transactional', '127.0.0.2')
  await add('two', 'own', '127.0.0.3')
  const one = {
    ip: '127.0.0.2',
    subusers: [],
    rdns: 'one.post.example',
    pools: ['transactional'],
    warmup: false,
    start_date: null,
    whitelabeled: false,
    assigned_at: null,
  }
  t.strictSame(await get(''), [one])
  t.strictSame(await get('/assigned'), [{ ip: one.ip, pools: one.pools, warmup: false, start_date: null }])
  t.strictSame(await get('/127.0.0.2'), one)
  t.strictSame(await get('/pools'), [{ name: 'transactional' }])
  t.strictSame(await get('/pools/transactional'), { pool_name: 'transactional', ips: ['127.0.0.2'] })
  t.strictSame(await get('?ip=127.0.0.2&limit=1'), [one])
  t.strictSame(await get('?ip=127.0.0.3'), [])
  t.strictSame(await get('?limit=1&offset=1'), [])
  for (const path of ['/ips/127.0.0.3', '/ips/pools/own', '/ips/nothing'])
    t.equal((await ask(base, { method: 'GET', path, key })).status, 404, path)
  for (const path of ['/ips', '/ips/pools'])
    refusedV3(t, await ask(base, { path, key, body: { name: 'x', count: 1 } }), [400, /set up by the operator/])
})

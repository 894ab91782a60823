import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'

const service = await makeService(t)
const base = await service.openApi()
const { apiKey } = await service.makeSender()
const call = (method: string, path: string, body?: unknown, key = apiKey) =>
  ask(base, { method, path, key, ...(body === undefined ? {} : { body }) })
const DOCK = { username: 'dock2', email: 'd2@ship.example', password: 'Anchor77x', ips: [] }

t.test('subusers are created, listed, disabled and deleted, and are subaccounts', async (t) => {
  proves(t, 'operation.createSubuser', 'operation.listSubusers', 'operation.disableSubuser', 'operation.deleteSubuser')
  const made = await call('POST', '/subusers', DOCK)
  t.equal(made.status, 201, made.text)
  const { api_key: key, user_id: id, ...rest } = made.json ?? {}
  t.strictSame(rest, { username: 'dock2', email: 'd2@ship.example', credit_allocation: { type: 'unlimited' } })
  await call('POST', '/subusers', { ...DOCK, username: 'alpha' })
  const all = await call('GET', '/subusers')
  t.match(all.json, [{ username: 'alpha' }, { disabled: false, id, username: 'dock2', email: 'd2@ship.example' }])
  t.match(all.headers.link, /rel="first"/)
  t.match((await call('GET', '/subusers?username=DOCK2&limit=5')).json, [{ id }])
  t.strictSame((await call('GET', '/subusers?offset=1')).json, (all.json as unknown as unknown[]).slice(1))
  t.equal((await call('GET', '/scopes', undefined, String(key))).status, 200)
  const behalf = await ask(base, {
    method: 'GET',
    path: '/user/username',
    key: apiKey,
    headers: { 'on-behalf-of': 'dock2' },
  })
  t.match(behalf.json, { user_id: id })
  t.strictSame((await call('PATCH', '/subusers/dock2', { disabled: true })).status, 204)
  t.match((await call('GET', '/subusers?username=dock2')).json, [{ disabled: true }])
  t.equal((await call('DELETE', '/subusers/dock2')).status, 204)
  t.match((await call('GET', '/subusers')).json, { length: 1 })
})

t.test('what is wrong is named by its field, and an unknown subuser is 404', async (t) => {
  for (const [change, field] of [
    [{ username: 'a b' }, 'username'],
    [{ username: 'alpha' }, 'username'],
    [{ username: 'beta', email: 'none' }, 'email'],
    [{ username: 'beta', password: 'short' }, 'password'],
    [{ username: undefined }, 'username'],
  ] as const)
    refusedV3(t, await call('POST', '/subusers', { ...DOCK, ...change }), [400, /./, field], field)
  t.match((await call('GET', '/subusers')).json, { length: 1 })
  for (const [method, body] of [
    ['PATCH', { disabled: true }],
    ['DELETE', undefined],
  ] as const)
    t.equal((await call(method, '/subusers/nobody', body)).status, 404)
})

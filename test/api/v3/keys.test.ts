import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import type { CallAnswer } from '../call.ts'
import { type AskOptions, ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'

const service = await makeService(t)
const url = await service.openApi()

function callWith(key: string) {
  return (method: string, path: string, body?: unknown): Promise<CallAnswer> =>
    ask(url, { method, path, key, body } as AskOptions)
}

async function makeCaller() {
  const sender = await service.makeSender()
  return { ...sender, call: callWith(sender.apiKey) }
}

t.test('a key is made, shown, changed and revoked', async (t) => {
  proves(t, 'operation.createKey', 'operation.listKeys', 'operation.viewKey', 'operation.renameKey')
  proves(t, 'operation.replaceKey', 'operation.deleteKey')
  const { call } = await makeCaller()
  const made = await call('POST', '/api_keys', { name: 'Reports' })
  t.equal(made.status, 201)
  const id = String(made.json?.api_key_id)
  t.match(made.json, { api_key: /./, api_key_id: /^\d+$/, name: 'Reports' })
  const own = await callWith(String(made.json?.api_key))('GET', '/scopes')
  t.same(own.json?.scopes, made.json?.scopes)
  t.match((await call('GET', '/api_keys')).json, { result: [{}, { name: 'Reports', api_key_id: id }] })
  t.same(Object.keys((await call('GET', `/api_keys/${id}`)).json ?? {}), ['api_key_id', 'name', 'scopes'])
  t.same((await call('PATCH', `/api_keys/${id}`, { name: 'Figures' })).json, { api_key_id: id, name: 'Figures' })
  const scopes = made.json?.scopes as string[]
  const templates = scopes.filter((scope) => scope.startsWith('templates.'))
  const narrowed = await call('PUT', `/api_keys/${id}`, { name: 'Templates', scopes: templates })
  t.match(narrowed.json, { api_key_id: id, name: 'Templates' })
  t.same(narrowed.json?.scopes, templates)
  t.equal((await call('DELETE', `/api_keys/${id}`)).status, 204)
  refusedV3(t, await call('GET', `/api_keys/${id}`), [404, 'resource not found'])
  refusedV3(t, await call('DELETE', `/api_keys/${id}`), [404, 'resource not found'])
  t.equal(((await call('GET', '/api_keys')).json?.result as unknown[] | undefined)?.length, 1)
})

t.test('a key is never wider than it was asked for', async (t) => {
  proves(t, 'api_keys.scopes')
  const { call } = await makeCaller()
  refusedV3(t, await call('POST', '/api_keys', { name: 'k', scopes: ['templates.read'] }), [
    ...([400, /templates\.create/, 'scopes'] as const),
  ])
  refusedV3(t, await call('POST', '/api_keys', { name: 'k', scopes: ['marketing.read'] }), [400, /no right/, 'scopes'])
  refusedV3(t, await call('POST', '/api_keys', { name: 'k', scopes: [] }), [400, /no right/, 'scopes'])
  refusedV3(t, await call('POST', '/api_keys', { name: 'k', scopes: ['user.scheduled_sends.read'] }), [
    ...([400, /mail\.send/, 'scopes'] as const),
  ])
  const made = await call('POST', '/api_keys', { name: 'k', scopes: ['mail.send', 'alerts.read'] })
  t.equal(made.status, 201)
  const granted = (made.json?.scopes ?? []) as string[]
  t.ok(granted.includes('mail.send'))
  t.notOk(granted.some((right) => right.startsWith('templates.')))
  refusedV3(t, await callWith(String(made.json?.api_key))('GET', '/templates'), [403, 'access forbidden'])
  t.equal((await call('POST', '/api_keys', { name: 'k', scopes: ['stats.read'] })).status, 201)
})

t.test('a name is required, and has an end', async (t) => {
  const { call } = await makeCaller()
  refusedV3(t, await call('POST', '/api_keys', {}), [400, 'missing required argument', 'name'])
  refusedV3(t, await call('POST', '/api_keys', { name: ' ' }), [400, 'missing required argument', 'name'])
  refusedV3(t, await call('POST', '/api_keys', { name: 'n'.repeat(101) }), [400, /./, 'name'])
  refusedV3(t, await call('POST', '/api_keys', { name: 'k', scopes: 'mail.send' }), [400, /array/, 'scopes'])
})

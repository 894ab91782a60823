import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import type { CallAnswer } from '../call.ts'
import { type AskOptions, ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'
import { mailBody } from './mail.ts'

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

t.test('valid keys are listed however many older ones were revoked', async (t) => {
  proves(t, 'operation.listKeys')
  const { accountId, call } = await makeCaller()
  await service.sql`
    insert into api_keys (account_id, name, prefix, hash, revoked_at)
    select ${accountId}, 'old-' || n, 'pr_' || n, sha256(('v3' || n)::bytea), service_now() from generate_series(1, 1000) n`
  const made = await call('POST', '/api_keys', { name: 'Reports' })
  t.match((await call('GET', '/api_keys')).json, { result: [{}, { api_key_id: made.json?.api_key_id }] })
  t.match((await call('GET', '/api_keys?limit=1')).json, { result: { length: 1 } })
})

t.test('a key is created, shown, changed and revoked', async (t) => {
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

t.test('a key never has more permissions than requested', async (t) => {
  proves(t, 'api_keys.scopes')
  const { call } = await makeCaller()
  refusedV3(t, await call('POST', '/api_keys', { name: 'k', scopes: ['templates.update'] }), [
    400,
    /templates\.create/,
    'scopes',
  ])
  refusedV3(t, await call('POST', '/api_keys', { name: 'k', scopes: ['marketing.read'] }), [
    400,
    /no supported scope/,
    'scopes',
  ])
  refusedV3(t, await call('POST', '/api_keys', { name: 'k', scopes: [] }), [400, /no supported scope/, 'scopes'])
  const many = Array.from({ length: 200 }, (_, at) => `${'x'.repeat(60)}.${at}`)
  refusedV3(t, await call('POST', '/api_keys', { name: 'k', scopes: ['mail.send', ...many] }), [
    400,
    /^scopes must have at most 8000 characters in total/,
    'scopes',
  ] as const)
  refusedV3(t, await call('POST', '/api_keys', { name: 'k', scopes: ['user.scheduled_sends.update'] }), [
    400,
    /mail\.send/,
    'scopes',
  ])
  refusedV3(t, await call('POST', '/api_keys', { name: 'k', scopes: ['x'.repeat(101)] }), [400, /100/, 'scopes.0'])
})

t.test('a key may read only, through every door', async (t) => {
  proves(t, 'api_keys.scopes')
  const { call } = await makeCaller()
  const scopes = ['templates.read', 'stats.global.read', 'asm.groups.read', 'suppression.bounces.read']
  const made = await call('POST', '/api_keys', { name: 'Reader', scopes })
  t.equal(made.status, 201, made.text)
  t.strictSame(made.json?.scopes, scopes)
  const reader = callWith(String(made.json?.api_key))
  for (const path of ['/templates', '/stats?start_date=2026-03-01', '/asm/groups', '/suppression/bounces']) {
    t.equal((await reader('GET', path)).status, 200, path)
  }
  refusedV3(t, await reader('POST', '/templates', { name: 'T' }), [403, 'access forbidden'])
  refusedV3(t, await reader('POST', '/asm/groups', { name: 'G' }), [403, 'access forbidden'])
  refusedV3(t, await reader('DELETE', '/suppression/bounces', { delete_all: true }), [403, 'access forbidden'])
  refusedV3(
    t,
    await reader('GET', '/suppression/spam_reports'),
    [403, 'access forbidden'],
    'it did not ask for that list',
  )
  refusedV3(t, await reader('GET', '/api_keys'), [403, 'access forbidden'])
  t.strictSame((await reader('GET', '/scopes')).json, { scopes })
  const v2 = await fetch(`${url}/v2/templates`, {
    method: 'POST',
    headers: { api_key: String(made.json?.api_key), 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'T', content: 'c' }),
  })
  t.match(await v2.text(), /scope required for this call/, 'v2 knows no reading alone')
})

t.test('suppression.read and suppression.delete are rights to every list of suppressions', async (t) => {
  proves(t, 'api_keys.scopes')
  const { call } = await makeCaller()
  const lists = ['bounces', 'blocks', 'invalid_emails', 'spam_reports', 'unsubscribes']
  const made = await call('POST', '/api_keys', { name: 'k', scopes: ['suppression.read', 'suppression.create'] })
  t.strictSame([made.status, made.json?.scopes], [201, ['suppression.read', 'suppression.create']], made.text)
  const reader = callWith(String(made.json?.api_key))
  for (const list of lists) t.equal((await reader('GET', `/suppression/${list}`)).status, 200, list)
  t.equal((await reader('GET', '/suppression/bounces/classifications')).status, 200)
  refusedV3(t, await reader('DELETE', '/suppression/bounces', { delete_all: true }), [403, 'access forbidden'])
  refusedV3(t, await reader('GET', '/asm/groups'), [403, 'access forbidden'], 'these are not lists of /suppression')
  const all = ((await call('GET', '/scopes')).json?.scopes ?? []) as string[]
  t.ok(all.includes('suppression.read') && all.includes('suppression.delete'), 'a key that may do all has both')
  const asm = all.filter((right) => right.startsWith('asm.'))
  const finer = all.filter((right) => /^suppression\.\w+\.delete$/.test(right))
  for (const scopes of [
    [...asm, 'suppression.delete'],
    [...asm, ...finer],
    [...asm, ...finer, 'suppression.delete'],
  ]) {
    const made = await call('POST', '/api_keys', { name: 'k', scopes })
    t.equal(made.status, 201, made.text)
    const own = callWith(String(made.json?.api_key))
    t.equal((await own('DELETE', '/suppression/bounces', { delete_all: true })).status, 204)
    refusedV3(t, await own('GET', '/suppression/bounces'), [403, 'access forbidden'])
  }
  const some = await call('POST', '/api_keys', { name: 'k', scopes: ['suppression.delete'] })
  refusedV3(t, some, [400, /also include asm\.groups\.create, [a-z._, ]+\.$/, 'scopes'])
  t.notMatch(some.text, /suppression\./, 'all of /suppression is named already')
  const none = await call('POST', '/api_keys', { name: 'k', scopes: ['suppression.create', 'suppression.update'] })
  refusedV3(t, none, [400, /^scopes contains no supported scope.*suppression\.create, suppression\.update/, 'scopes'])
})

t.test('a key returns the scopes that were requested, and has no others', async (t) => {
  proves(t, 'api_keys.scopes')
  const { call, ...sender } = await makeCaller()
  for (const scopes of [['mail.send'], ['mail.send', 'alerts.read', 'mail.batch.create']]) {
    const made = await call('POST', '/api_keys', { name: 'k', scopes })
    t.strictSame([made.status, made.json?.scopes], [201, scopes])
    const own = callWith(String(made.json?.api_key))
    t.strictSame((await call('GET', `/api_keys/${made.json?.api_key_id}`)).json?.scopes, scopes)
    t.strictSame((await own('GET', '/scopes')).json, { scopes })
    t.equal((await own('POST', '/mail/send', mailBody(sender))).status, 202)
    t.equal((await own('POST', '/mail/batch')).status, scopes.length > 1 ? 201 : 403)
    refusedV3(t, await own('GET', '/templates'), [403, 'access forbidden'])
  }
  const made = await call('POST', '/api_keys', { name: 'k', scopes: ['mail.send'] })
  const id = Number(made.json?.api_key_id)
  const put = await call('PUT', `/api_keys/${id}`, { name: 'k', scopes: ['stats.read'] })
  t.strictSame(put.json?.scopes, ['stats.read'])
  t.strictSame((await call('PUT', `/api_keys/${id}`, { name: 'l' })).json?.scopes, ['stats.read'], 'left out they stay')
  const { key, secret } = await service.core.auth.rotateKey(id)
  t.strictSame(
    (await callWith(secret)('GET', '/scopes')).json,
    { scopes: ['stats.read'] },
    'its successor has the same',
  )
  await service.core.auth.updateKey(key.id, { scopes: ['templates'] })
  const { json } = await call('GET', `/api_keys/${key.id}`)
  t.ok(((json?.scopes ?? []) as string[]).includes('templates.create'), 'given our scopes, it has all of theirs')
})

t.test('a key that makes keys gives no more than it has itself', async (t) => {
  const { call } = await makeCaller()
  const keys = ['api_keys.create', 'api_keys.read', 'api_keys.update', 'api_keys.delete']
  const made = await call('POST', '/api_keys', { name: 'k', scopes: [...keys, 'mail.send', 'templates.read'] })
  const own = callWith(String(made.json?.api_key))
  const give = (scopes?: string[]) => own('POST', '/api_keys', { name: 'n', ...(scopes ? { scopes } : {}) })
  t.strictSame((await give()).json?.scopes, made.json?.scopes)
  t.strictSame((await give(['templates.read'])).json?.scopes, ['templates.read'])
  for (const scopes of [['mail.send', 'mail.batch.create'], ['templates.versions.read'], ['stats.read']]) {
    t.equal((await give(scopes)).status, 403, scopes.join())
  }
})

t.test('a name is required, and has an end', async (t) => {
  const { call } = await makeCaller()
  refusedV3(t, await call('POST', '/api_keys', {}), [400, 'missing required argument', 'name'])
  refusedV3(t, await call('POST', '/api_keys', { name: ' ' }), [400, 'missing required argument', 'name'])
  refusedV3(t, await call('POST', '/api_keys', { name: 'n'.repeat(101) }), [400, /./, 'name'])
  refusedV3(t, await call('POST', '/api_keys', { name: 'k', scopes: 'mail.send' }), [400, /array/, 'scopes'])
})

import t from 'tap'
import { openDashboard, type TestVisitor } from './dashboard.ts'

const { service, owner, url } = await openDashboard(t)
const ada = await owner()
const { accountId } = ada
const base = `/app/${accountId}`

/** Submits a form, follows the redirect with the cookies it sets, and returns the page and the form that the page offers to take it back. */
async function done(visitor: TestVisitor, path: string, form: Record<string, string> = {}) {
  const response = await visitor.post(path, form)
  const set = response.headers.getSetCookie().map((one) => one.split(';')[0])
  const cookie = [visitor.cookie, ...set].join('; ')
  const page = await (await fetch(`${url}${response.headers.get('location')}`, { headers: { cookie } })).text()
  const [, action = ''] =
    /class="toast"[^>]*data-fades="10000">[^<]*<form method="post" action="([^"]*)"/.exec(page) ?? []
  const toast = page.slice(page.indexOf('class="toast"'))
  const fields = [...toast.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [
    name,
    value,
  ])
  return {
    page,
    location: response.headers.get('location'),
    action,
    fields: Object.fromEntries(fields) as Record<string, string>,
  }
}

t.test('an entry of a group without the number of its group removes nothing', async (t) => {
  const value = 'emil@harbor.example'
  const { suppressions } = service.core
  await suppressions.add({ accountId, scope: 'address', value, reason: 'hardbounce' })
  for (const group of ['', '0', 'x'])
    t.equal((await ada.post(`${base}/suppressions/remove`, { scope: 'group', value, group })).status, 400, group)
  t.equal((await suppressions.list(accountId, { limit: 1, offset: 0 })).total, 1)
  await suppressions.removeAll({ accountId, emails: [value], by: { keyId: null, address: null } })
})

t.test('a suppression that was removed is back with its reason, and no address is in a URL', async (t) => {
  const value = 'lena@harbor.example'
  const { suppressions } = service.core
  await suppressions.add({ accountId, scope: 'address', value, reason: 'hardbounce' })
  const entry = { scope: 'address', value, group: '0', reason: 'hardbounce' }
  const removed = await done(ada, `${base}/suppressions/remove`, entry)
  t.equal((await suppressions.list(accountId, { limit: 1, offset: 0 })).total, 0)
  t.notMatch(removed.location, 'lena')
  t.equal(removed.action, `${base}/suppressions/restore`)
  const back = await done(ada, removed.action, removed.fields)
  t.match(back.page, 'It is suppressed again, for the same reason.')
  t.equal(back.action, '', 'which offers nothing more')
  t.match((await suppressions.list(accountId, { limit: 1, offset: 0 })).suppressions, [{ value, reason: 'hardbounce' }])
})

t.test('a key that was revoked is valid again, within a minute only', async (t) => {
  const { key, secret } = await service.core.auth.createKey({ accountId, name: 'shop' })
  const revoked = await done(ada, `${base}/keys/${key.id}/revoke`)
  t.ok((await service.core.auth.showKey(key.id)).revokedAt)
  t.match((await done(ada, revoked.action)).page, 'The key is valid again')
  t.equal((await service.core.auth.showKey(key.id)).revokedAt, null)
  t.ok(secret)
  await done(ada, `${base}/keys/${key.id}/revoke`)
  await service.sql`update api_keys set revoked_at = revoked_at - interval '2 minutes' where id = ${key.id}`
  t.equal((await ada.post(revoked.action)).status, 404)
  t.ok((await service.core.auth.showKey(key.id)).revokedAt)
})

t.test('a cookie of something else offers nothing', async (t) => {
  const action = `${base}/keys/5/restore`
  const forged: readonly object[] = [
    { action: 'https://elsewhere.example', fields: {} },
    { action: `${base}/team/invite`, fields: { email: 'eve@evil.example', role: 'owner' } },
    { action: `${base}/keys/5/restore/../../../team/invite`, fields: {} },
    { action: `/app/${accountId + 1}/keys/5/restore`, fields: {} },
    { action, fields: { value: { toString: 'x', isEscaped: true } } },
  ]
  const cookie = (undo: object) => Buffer.from(JSON.stringify(undo)).toString('base64url')
  t.match(
    await (
      await fetch(`${url}${base}/keys?said=revoked`, {
        headers: { cookie: `${ada.cookie}; undo=${cookie({ action, fields: {} })}` },
      })
    ).text(),
    'data-fades="10000"',
  )
  for (const undo of ['nonsense', ...forged.map(cookie)]) {
    const headers = { cookie: `${ada.cookie}; undo=${undo}` }
    t.notMatch(await (await fetch(`${url}${base}/keys?said=revoked`, { headers })).text(), 'data-fades="10000"')
  }
})

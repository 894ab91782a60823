import t from 'tap'
import { openDashboard, PASSWORD } from './dashboard.ts'

const SUSPENDED = 'Account is suspended'

t.test('a developer neither revokes nor rotates a key with more rights than the role has', async (t) => {
  const { service, owner, member } = await openDashboard(t)
  const { accountId } = await owner()
  const developer = await member(accountId, 'developer')
  const { auth } = service.core
  const wide = (await auth.createKey({ accountId, scopes: ['all'] })).key
  const narrow = (await auth.createKey({ accountId, scopes: ['send'] })).key
  const keys = `/app/${accountId}/keys`
  for (const act of ['revoke', 'rotate']) {
    const refused = await developer.post(`${keys}/${wide.id}/${act}`)
    t.equal(refused.status, 400)
    t.match(await refused.text(), 'This api_key is not allowed to manage a key with the scope all')
  }
  t.equal((await auth.listKeys(accountId)).find(({ id }) => id === wide.id)?.revokedAt, null)
  t.equal((await developer.post(`${keys}/${narrow.id}/revoke`)).headers.get('location'), `${keys}?said=revoked`)
  t.equal((await developer.post(`${keys}/7777777/revoke`)).status, 404)
  const other = await service.core.accounts.create('souq')
  const foreign = (await auth.createKey({ accountId: other.id, scopes: ['send'] })).key
  t.equal((await developer.post(`${keys}/${foreign.id}/revoke`)).status, 404)
})

t.test('a secret is shown only to a user who gave the password within ten minutes', async (t) => {
  const { service, owner } = await openDashboard(t)
  const visitor = await owner()
  const { key } = await service.core.auth.createKey({ accountId: visitor.accountId, scopes: ['all'] })
  const keys = `/app/${visitor.accountId}/keys`
  const shown = async (path: string, form: Record<string, string>) =>
    /id="secret">pr_/.test(await (await visitor.post(path, form)).text())
  const made = { name: 'shop-backend', scopes: 'send' }
  t.equal(await shown(keys, made), true, 'just after the log-in')
  await service.sql`update sessions set reauthenticated_at = reauthenticated_at - interval '11 minutes'`
  await service.core.people.sessions.endAll(0)
  t.equal(await shown(keys, made), false)
  t.equal(await shown(`${keys}/${key.id}/rotate`, {}), false)
  t.equal(await shown(`${keys}/${key.id}/rotate`, { proof: PASSWORD }), true)
  t.equal((await service.core.auth.listKeys(visitor.accountId)).length, 3, 'what was not proved made no key')
})

t.test('a suspended account makes and rotates no key and adds no webhook, here or by the API', async (t) => {
  const { service, url, owner, member } = await openDashboard(t)
  const operator = await owner()
  const { id: accountId } = await service.core.accounts.create('souq')
  const lee = await member(accountId, 'owner')
  const { key, secret } = await service.core.auth.createKey({ accountId })
  await service.core.accounts.suspend(accountId)
  const keys = `/app/${accountId}/keys`
  const pages = [
    await lee.post(keys, { name: 'more', scopes: 'send' }),
    await lee.post(`${keys}/${key.id}/rotate`),
    await lee.post(`/app/${accountId}/webhooks`, {
      url: 'https://hooks.harbor.example/',
      format: 'v2',
      events: 'sent',
    }),
  ]
  for (const page of pages) t.match(await page.text(), SUSPENDED)
  const headers = { api_key: secret, 'content-type': 'application/json' }
  const call = (path: string, body: unknown) =>
    fetch(`${url}/v2${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  for (const answer of [
    await call('/keys', { name: 'more' }),
    await call('/keys/rotate', { id: key.id }),
    await call('/webhooks', { url: 'https://hooks.harbor.example/', events: ['sent'] }),
  ]) {
    t.equal(answer.status, 403)
    t.match(await answer.json(), { error_info: { error_code: 115, error_message: SUSPENDED } })
  }
  t.equal((await service.core.auth.listKeys(accountId)).length, 1)
  t.equal((await lee.post(`${keys}/${key.id}/revoke`)).status, 303, 'a key can be revoked')
  t.equal((await operator.get('/app')).status, 303)
})

t.test('a key that was made just now is on the page, however many were made and revoked before', async (t) => {
  const { service, owner } = await openDashboard(t)
  const visitor = await owner()
  const { accountId } = visitor
  await service.sql`
    insert into api_keys (account_id, name, prefix, hash, revoked_at)
    select ${accountId}, 'old-' || n, 'pr_' || n, sha256(n::text::bytea), case when n <= 250 then service_now() end
      from generate_series(1, 260) n`
  await service.core.auth.createKey({ accountId, name: 'shop-backend' })
  const page = await (await visitor.get(`/app/${accountId}/keys`)).text()
  t.match(page, 'shop-backend')
  t.match(page, 'old-260')
  t.notMatch(page, 'old-250')
  t.match(await (await visitor.get(`/app/${accountId}/keys?revoked=1`)).text(), 'old-250')
})

t.test('the question who one is says what it is for, and leads back to the page that asked', async (t) => {
  const { service, owner } = await openDashboard(t)
  const ada = await owner()
  await service.sql`update sessions set reauthenticated_at = reauthenticated_at - interval '11 minutes'`
  await service.core.people.sessions.endAll(0)
  const keys = `/app/${ada.accountId}/keys`
  for (const [form, back] of [
    [keys, keys],
    [`${keys}/7/rotate`, `${keys}/7/rotate`],
    ['/app/operator/queue/plans/7/confirm', '/app/operator/queue/plans/7/confirm'],
  ] as const) {
    const asked = await (await ada.post(form, { name: 'shop-backend' })).text()
    t.match(asked, 'Confirm that it is you', form)
    t.notMatch(asked, 'who can log in', form)
    t.match(asked, `<a href="${back}">Go back</a>`, form)
    t.ok((await ada.get(back)).status < 400, back)
  }
})

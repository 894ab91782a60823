import t from 'tap'
import { openDashboard, PASSWORD } from './dashboard.ts'

const REFUSAL = 'Your session has ended or your role has changed'

t.test('a page does nothing for a visitor whose role another process has just changed', async (t) => {
  const { service, owner, member } = await openDashboard(t)
  const { sql, core } = service
  const ada = await owner()
  const { accountId } = ada
  const lee = await member(accountId, 'owner')
  const setRole = (role: string) =>
    sql`update memberships set role = ${role} where account_id = ${accountId} and user_id = ${lee.userId}`
  const { key } = await core.auth.createKey({ accountId, scopes: ['send'] })
  const at = `/app/${accountId}`
  const mia = await member(accountId, 'viewer')
  for (const [path, form] of [
    ['/keys', { name: 'shop', scopes: 'all' }],
    [`/keys/${key.id}/rotate`, {}],
    [`/keys/${key.id}/revoke`, {}],
    ['/team', { email: 'noor@souq.example', role: 'developer' }],
    [`/team/${mia.userId}/role`, { role: 'developer' }],
    [`/team/${mia.userId}/remove`, {}],
    ['/subaccounts', { username: 'wharf', email: 'wharf@ship.example', credit: 'unlimited' }],
    ['/domains', { domain: 'ship.example' }],
  ] as const) {
    await setRole('owner')
    // This process forgets what it knows of sessions, and then knows the owner.
    await core.people.sessions.endAll(0)
    t.equal((await lee.get(`${at}/keys`)).status, 200)
    await setRole('viewer')
    const refused = await lee.post(`${at}${path}`, { ...form, proof: PASSWORD })
    t.ok(refused.status === 400 || refused.status === 403, `${path}: ${refused.status}`)
    t.match(await refused.text(), REFUSAL, path)
  }
  t.match(await core.auth.listKeys(accountId), [{ id: key.id, revokedAt: null }])
  t.equal((await core.people.members.list(accountId)).length, 3)
  t.equal((await core.people.invitations.list(accountId)).length, 0)
})

t.test('nor for one who no longer operates the installation', async (t) => {
  const { service, owner } = await openDashboard(t)
  const ada = await owner()
  const { id } = await service.core.accounts.create('souq')
  t.equal((await ada.get(`/app/operator/accounts/${id}`)).status, 200)
  await service.sql`delete from operators`
  const refused = await ada.post(`/app/operator/accounts/${id}/suspend`)
  t.match(await refused.text(), REFUSAL)
  t.match(await service.core.accounts.list(), [{}, { id, state: 'active' }])
})

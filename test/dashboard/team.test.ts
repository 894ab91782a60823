import t from 'tap'
import { openDashboard, PASSWORD } from './dashboard.ts'

const PROVE = `update sessions set reauthenticated_at = reauthenticated_at - interval '11 minutes'`

t.test('the team shows members with their roles, and names that are hostile as they are', async (t) => {
  const { service, owner, member } = await openDashboard(t)
  const ada = await owner()
  const support = await member(ada.accountId, 'support')
  await service.core.people.users.rename(support.userId, '<script>alert(1)</script>')
  const page = await (await ada.get(`/app/${ada.accountId}/team`)).text()
  t.match(page, '&lt;script&gt;alert(1)&lt;/script&gt;')
  t.notMatch(page, '<script>alert')
  for (const text of ['Ada Lovelace', support.email, '>support<', '>owner<']) t.match(page, text)
})

t.test('an invitation that cannot be mailed is shown once, to be handed over, and can be revoked', async (t) => {
  const { url, owner } = await openDashboard(t)
  const ada = await owner()
  const team = `/app/${ada.accountId}/team`
  const made = await ada.post(team, { email: 'grace@northwind.example', role: 'viewer' })
  const link = /http:[^\s<"]+\/app\/invitation\?token=[\w-]+/.exec(await made.text())?.[0] as string
  t.ok(link)
  const path = link.slice(link.indexOf('/app'))
  t.equal((await fetch(`${url}${path}`)).status, 200)
  const page = await (await ada.get(team)).text()
  t.match(page, 'grace@northwind.example')
  t.notMatch(page, /invitation\?token/)
  const id = /team\/invitations\/(\d+)\/revoke/.exec(page)?.[1]
  t.equal((await ada.post(`${team}/invitations/${id}/revoke`)).status, 303)
  t.equal((await fetch(`${url}${path}`)).status, 410)
  t.equal((await ada.post(`${team}/invitations/${id}/revoke`)).status, 404, 'it is not open any more')
  const wrong = await ada.post(team, { email: 'no address', role: 'viewer' })
  t.equal(wrong.status, 400)
  t.match(await wrong.text(), 'value="no address"')
})

t.test('a role is changed and a member removed, with effect on open sessions', async (t) => {
  const { owner, member } = await openDashboard(t)
  const ada = await owner()
  const team = `/app/${ada.accountId}/team`
  const grace = await member(ada.accountId, 'viewer')
  const keys = `/app/${ada.accountId}/keys`
  t.equal((await grace.get(keys)).status, 403)
  t.equal((await ada.post(`${team}/${grace.userId}/role`, { role: 'developer' })).status, 303)
  const changed = await grace.get(keys)
  t.equal(changed.status, 200)
  t.not(changed.headers.getSetCookie().length, 0, 'the token of the session is another one now')
  t.equal((await ada.post(`${team}/${grace.userId}/role`, { role: 'king' })).status, 400)
  t.equal((await ada.post(`${team}/${grace.userId}/remove`)).status, 303)
  t.equal((await grace.get(keys)).status, 404)
  t.equal((await ada.post(`${team}/${grace.userId}/remove`)).status, 404)
})

t.test('the last owner keeps the role and the account', async (t) => {
  const { service, owner } = await openDashboard(t)
  const ada = await owner()
  const team = `/app/${ada.accountId}/team`
  const [member] = await service.core.people.members.list(ada.accountId)
  for (const [path, form] of [
    ['role', { role: 'viewer' }],
    ['remove', {}],
  ] as const) {
    const refused = await ada.post(`${team}/${member?.userId}/${path}`, form)
    t.equal(refused.status, 400)
    t.match(await refused.text(), 'The last owner')
  }
})

t.test('making an owner needs the password if the session is not fresh', async (t) => {
  const { service, owner, member } = await openDashboard(t)
  const ada = await owner()
  const team = `/app/${ada.accountId}/team`
  const grace = await member(ada.accountId, 'viewer')
  await service.sql.unsafe(PROVE)
  await service.core.people.sessions.endAll(0)
  const asked = await ada.post(`${team}/${grace.userId}/role`, { role: 'owner' })
  t.match(await asked.text(), '<input type="hidden" name="role" value="owner">')
  t.match(await (await ada.post(team, { email: 'x@y.example', role: 'owner' })).text(), 'Confirm that it is you')
  t.equal((await grace.get(team)).status, 403)
  t.equal((await ada.post(`${team}/${grace.userId}/role`, { role: 'owner', proof: PASSWORD })).status, 303)
  t.equal((await grace.get(team)).status, 200)
})

t.test('members and invitations of other accounts are not found', async (t) => {
  const { service, owner, member } = await openDashboard(t)
  const ada = await owner()
  const other = await service.core.accounts.create('other')
  const stranger = await member(other.id, 'owner')
  const by = { keyId: null, address: null }
  const wanted = { email: 'p@q.example', role: 'viewer' }
  const { invitation } = await service.core.people.invitations.create(other.id, wanted, by)
  const team = `/app/${ada.accountId}/team`
  for (const path of [
    `${stranger.userId}/remove`,
    `${stranger.userId}/role`,
    `invitations/${invitation.id}/revoke`,
    'x/remove',
    '99999999999999/remove',
  ]) {
    t.equal((await ada.post(`${team}/${path}`, { role: 'viewer' })).status, 404, path)
  }
  t.equal((await service.core.people.invitations.list(other.id)).length, 1)
  t.equal((await service.core.people.members.list(other.id)).length, 1)
})

t.test('a member who has just logged in is not said to have never done so', async (t) => {
  const { owner, member } = await openDashboard(t)
  const ada = await owner()
  await member(ada.accountId, 'viewer')
  t.notMatch(await (await ada.get(`/app/${ada.accountId}/team`)).text(), '>never<')
  t.notMatch(await (await ada.get(`/app/operator/accounts/${ada.accountId}`)).text(), 'never logged in')
})

import t from 'tap'
import { openDashboard, sessionCookieOf, submit, visitor } from './dashboard.ts'

t.test(
  'a subaccount is created, with its first key shown once, and an e-mail address that is invalid is refused',
  async (t) => {
    const { owner } = await openDashboard(t)
    const ada = await owner()
    const at = `/app/${ada.accountId}/subaccounts`
    t.match(await (await ada.get(at)).text(), 'No subaccounts yet')
    const refused = await ada.post(at, { username: 'dock2', email: 'none' })
    t.equal(refused.status, 400)
    t.match(await refused.text(), 'value="dock2"')
    const made = await (await ada.post(at, { username: 'dock2', email: 'd2@ship.example', credit: 'unlimited' })).text()
    t.match(made, /<code id="secret">pr_/)
    const list = await (await ada.get(at)).text()
    t.match(list, 'dock2')
    t.notMatch(list, 'id="secret"')
    t.match(await (await ada.get(`${at}?q=DOCK2`)).text(), 'd2@ship.example')
    t.match(await (await ada.get(`${at}?q=dock`)).text(), 'No subaccount has this name')
  },
)

t.test('credit is moved to a subaccount and back, and its page shows what is left and the history', async (t) => {
  const { owner, service } = await openDashboard(t)
  const ada = await owner()
  await service.core.credits.limit(ada.accountId, 1000)
  const at = `/app/${ada.accountId}/subaccounts`
  await ada.post(at, { username: 'dock2', email: 'd2@ship.example', credit: 'one_time_credit' })
  t.equal((await ada.post(`${at}/dock2/credit`, { action: 'increase', amount: '1500' })).status, 400)
  t.equal((await ada.post(`${at}/dock2/credit`, { action: 'increase', amount: '' })).status, 400)
  t.equal((await ada.post(`${at}/dock2/credit`, { action: 'increase', amount: '400' })).status, 303)
  t.equal((await service.core.credits.show(ada.accountId)).available, 600)
  t.equal((await ada.post(`${at}/dock2/credit`, { action: 'decrease', amount: '150' })).status, 303)
  t.equal((await service.core.credits.show(ada.accountId)).available, 750)
  const page = await (await ada.get(`${at}/dock2`)).text()
  t.match(page, /class="v">250</)
  t.match(page, 'Taken back from the subaccount')
  t.match(page, 'Ada Lovelace')
})

t.test('the list says when the credit of a subaccount runs out at the present pace', async (t) => {
  const { owner, service } = await openDashboard(t)
  const ada = await owner()
  const at = `/app/${ada.accountId}/subaccounts`
  await ada.post(at, { username: 'dock2', email: 'd2@ship.example', credit: 'one_time_credit' })
  await ada.post(`${at}/dock2/credit`, { action: 'increase', amount: '700' })
  await service.sql`
    insert into credit_usage (account_id, day, slot, used)
    select a.id, (service_now() at time zone 'UTC')::date - n, 0, 100 from accounts a, generate_series(0, 6) n
     where a.username = 'dock2'`
  const day = new Date(Date.now() + 7 * 86_400_000).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  })
  t.match(await (await ada.get(at)).text(), `runs out on ${day}`)
  await ada.post(at, { username: 'dock3', email: 'd3@ship.example', credit: 'one_time_credit' })
  const list = await (await ada.get(at)).text()
  t.match(list, 'dock3')
  t.notMatch(list, 'used up', 'what was never used is not used up')
})

t.test('a subaccount is suspended, resumed, changed and deleted', async (t) => {
  const { owner, service } = await openDashboard(t)
  const ada = await owner()
  const at = `/app/${ada.accountId}/subaccounts`
  await ada.post(at, { username: 'dock2', email: 'd2@ship.example' })
  const shown = async () => (await service.core.subaccounts.list(ada.accountId, { limit: 1, offset: 0 })).subaccounts[0]
  t.equal((await ada.post(`${at}/dock2/suspend`)).status, 303)
  t.equal((await shown())?.disabled, true)
  t.match(await (await ada.get(`${at}/dock2`)).text(), '>suspended<')
  t.equal((await ada.post(`${at}/dock2/resume`)).status, 303)
  t.equal((await shown())?.disabled, false)
  t.equal((await ada.post(`${at}/dock2`, { email: 'new@ship.example', credit: 'unlimited' })).status, 303)
  t.equal((await shown())?.email, 'new@ship.example')
  t.equal((await ada.post(`${at}/dock2`, { email: 'new@ship.example', password: 'weak' })).status, 400)
  t.equal((await ada.post(`${at}/dock2/remove`)).status, 303)
  t.equal((await ada.get(`${at}/dock2`)).status, 404)
})

t.test('the holder of a subaccount logs in with the password that its parent sets', async (t) => {
  const { owner, service } = await openDashboard(t)
  const ada = await owner()
  const at = `/app/${ada.accountId}/subaccounts`
  await ada.post(at, { username: 'dock2', email: 'd2@ship.example' })
  t.equal((await ada.post(`${at}/dock2`, { email: 'd2@ship.example', password: 'Anchor77x' })).status, 303)
  const name = await service.core.accounts.names([ada.accountId])
  const email = `${name.get(ada.accountId)}/dock2`
  const result = await service.core.people.logIn({ email, password: 'Anchor77x', address: '192.0.2.7' })
  t.equal(result.kind, 'session')
})

t.test('subaccounts of other accounts are not found, and a subaccount has none of its own', async (t) => {
  const { member, owner, service } = await openDashboard(t)
  const ada = await owner()
  const at = `/app/${ada.accountId}/subaccounts`
  await ada.post(at, { username: 'dock2', email: 'd2@ship.example' })
  const other = await service.core.accounts.create('other')
  const stranger = await member(other.id, 'owner')
  const theirs = `/app/${other.id}/subaccounts/dock2`
  t.equal((await stranger.get(theirs)).status, 404)
  for (const [below, form] of [
    ['', { email: 'x@y.example' }],
    ['/credit', { action: 'increase', amount: '5' }],
    ['/suspend', {}],
    ['/resume', {}],
    ['/remove', {}],
  ] as const) {
    t.equal((await stranger.post(`${theirs}${below}`, form)).status, 404, below)
  }
  const [sub] = await service.sql<{ id: number }[]>`select id from accounts where username = 'dock2'`
  const holder = await member(sub?.id as number, 'owner')
  t.match(await (await holder.get(`/app/${sub?.id}/subaccounts`)).text(), 'This is a subaccount')
  const nested = await holder.post(`/app/${sub?.id}/subaccounts`, { username: 'below', email: 'b@ship.example' })
  t.equal(nested.status, 400)
})

t.test(
  'the holder of a subaccount is told who sets the password, and has no form that is always refused',
  async (t) => {
    const { owner, service, url } = await openDashboard(t)
    const ada = await owner()
    await ada.post(`/app/${ada.accountId}/subaccounts`, {
      username: 'dock2',
      email: 'd2@ship.example',
      password: 'Anchor77x',
    })
    const names = await service.core.accounts.names([ada.accountId])
    const parent = names.get(ada.accountId) as string
    const response = await submit(url, '/app/login', { email: `${parent}/dock2`, password: 'Anchor77x' })
    const holder = visitor(url, sessionCookieOf(response), 0)
    const shown = await (await holder.get('/app/security')).text()
    t.notMatch(shown, 'action="/app/security/password"')
    t.match(shown, 'set by the account above it')
    t.match(await (await ada.get('/app/security')).text(), 'action="/app/security/password"')
  },
)

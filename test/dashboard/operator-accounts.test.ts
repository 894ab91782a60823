import t from 'tap'
import { openDashboard } from './dashboard.ts'
import { member } from './members.ts'

const ACCOUNTS = '/app/operator/accounts'

t.test('all accounts are listed with their figures, found by name and number, and by standing', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { get } = await owner()
  const { core, sql } = service
  const busy = await core.accounts.create('Lumen <b>Letters</b>')
  const idle = await core.accounts.create('Harbor')
  await sql`
    insert into account_counts (account_id, hour, accepted, delivered, hard, soft, complained)
    values (${busy.id}, date_trunc('hour', service_now()), 4321, 900, 100, 7, 9)`
  await core.reputation.hold({ accountId: idle.id, reason: 'bought list' })
  await sql`
    insert into account_holds (account_id, rule, level, classes, figures, since, check_at)
    values (${busy.id}, 'policy-deferrals', 'warned', '{}', '{"deferred": 60, "attempts": 240, "google": 0.25}', service_now(), 'infinity')`
  const page = await (await get(ACCOUNTS)).text()
  t.match(page, 'Lumen &lt;b&gt;Letters&lt;/b&gt;')
  t.notMatch(page, '<b>Letters')
  t.match(page, '4,321')
  t.match(page, '10.0 %')
  t.ok(page.indexOf('Lumen') < page.indexOf('Harbor'), 'most mail first')
  const shown = async (query: string) => {
    const text = await (await get(`${ACCOUNTS}?${query}`)).text()
    return [text.includes('Lumen'), text.includes('>Harbor<')]
  }
  t.strictSame(await shown('q=lumen'), [true, false])
  t.strictSame(await shown(`q=${idle.id}`), [false, true])
  t.strictSame(await shown('filter=held'), [false, true])
  t.strictSame(await shown('filter=suspended'), [false, false])
  t.strictSame(await shown('q=%25'), [false, false])
  t.equal((await get(`${ACCOUNTS}?offset=-1&filter=x`)).status, 200)
  const own = await (await get(`${ACCOUNTS}/${busy.id}`)).text()
  t.match(own, '100 of delivered and bounced')
  for (const figure of ['60 deferred by filters or limits', '240 attempts', 'google 25.0 %']) t.match(own, figure)
  for (const id of ['999999', '0', 'x', '99999999999']) t.equal((await get(`${ACCOUNTS}/${id}`)).status, 404, id)
})

t.test('an account is created, held, released, suspended and resumed, each with the user in the log', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { get, post } = await owner()
  const { core } = service
  t.match(await (await post(ACCOUNTS, { name: ' ' })).text(), 'Name: must')
  const made = await post(ACCOUNTS, { name: 'Harbor' })
  const path = (made.headers.get('location') as string).split('?')[0] as string
  const id = Number(path.split('/').at(-1))
  const standing = () => core.reputation.show(id)
  t.equal((await post(`${path}/hold`, { reason: '', class: '' })).status, 400)
  t.equal((await post(`${path}/hold`, { reason: 'bought list', class: 'bulk' })).status, 303)
  t.match((await standing()).holds, [{ rule: 'operator', level: 'held', classes: ['bulk'], reason: 'bought list' }])
  t.match(await (await get(path)).text(), 'bought list')
  await post(`${path}/release`)
  t.equal((await standing()).holds.length, 0)
  await post(`${path}/rules`, { rules: 'strict' })
  t.match(await standing(), { rules: 'strict', hasOwnRules: true })
  t.equal((await post(`${path}/rules`, { rules: 'lax' })).status, 400)
  await post(`${path}/suspend`)
  t.match(await (await get(path)).text(), 'Suspended')
  t.equal((await post(`${path}/rename`, { name: '' })).status, 400)
  await post(`${path}/rename`, { name: 'Harbor Shipping' })
  t.match(await (await get(path)).text(), '<title>Harbor Shipping · ')
  await post(`${path}/resume`)
  const { accounts } = await core.reputation.accounts({ id, limit: 1, offset: 0 })
  t.equal(accounts[0]?.state, 'active')
  const log = (await core.audit.list(0, { after: 0, limit: 100 })).filter(({ object }) => object === `account ${id}`)
  t.strictSame(
    log.map(({ action, userName }) => `${action} ${userName}`),
    ['create', 'hold', 'release', 'rules', 'suspend', 'rename', 'resume'].map(
      (action) => `account.${action} Ada Lovelace`,
    ),
  )
  for (const { userId } of await core.audit.list(id, { after: 0, limit: 100 })) t.equal(userId, null)
})

t.test('the operator may own a new account', async (t) => {
  const { owner } = await openDashboard(t)
  const { get, post } = await owner()
  const made = await post(ACCOUNTS, { name: 'Harbor', owner: 'on' })
  const path = (made.headers.get('location') as string).split('?')[0] as string
  t.match(path, /^\/app\/\d+$/)
  t.equal((await get(`${path}/keys`)).status, 200)
})

t.test('an operator looks at an account, which its owner sees, and changes nothing there', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { get, post } = await owner()
  const { id } = await service.core.accounts.create('Harbor')
  t.equal((await get(`/app/${id}`)).status, 404)
  const looked = await post(`${ACCOUNTS}/${id}/look`)
  t.equal(looked.headers.get('location'), `/app/${id}`)
  const page = await (await get(`/app/${id}`)).text()
  t.match(page, 'You look at Harbor as an operator')
  t.match(page, 'action="/app/operator/look-away"')
  t.equal((await post(`/app/${id}/keys`, { name: 'stolen', scopes: 'all' })).status, 403)
  t.equal((await service.core.auth.listKeys(id)).length, 0)
  t.match(await service.core.audit.list(id, { after: 0, limit: 100 }), [
    { action: 'account.create' },
    { action: 'operator.look', userName: 'Ada Lovelace' },
  ])
  t.equal((await post('/app/operator/look-away')).headers.get('location'), `${ACCOUNTS}/${id}`)
  t.equal((await get(`/app/${id}`)).status, 404)
})

t.test('to a user who does not operate the installation, its accounts are not there', async (t) => {
  const dashboard = await openDashboard(t)
  const { accountId } = await dashboard.owner()
  const eve = await member(dashboard, { accountId })
  const { id } = await dashboard.service.core.accounts.create('Harbor')
  for (const path of ['', '/new', `/${id}`, `/${accountId}`])
    t.equal((await eve.get(`${ACCOUNTS}${path}`)).status, 404, path)
  for (const path of [
    '',
    `/${id}/look`,
    `/${id}/hold`,
    `/${id}/release`,
    `/${id}/rules`,
    `/${id}/suspend`,
    `/${id}/resume`,
    `/${id}/invite`,
  ])
    t.equal(
      (await eve.post(`${ACCOUNTS}${path}`, { name: 'x', reason: 'x', rules: 'none', email: 'x@y.example' })).status,
      404,
      path,
    )
  t.equal((await eve.post('/app/operator/look-away')).status, 404)
  t.equal((await eve.get(`/app/${id}`)).status, 404)
})

import t from 'tap'
import { passTime } from '../helpers/pass-time.ts'
import { openDashboard, PASSWORD } from './dashboard.ts'

t.test('an operator sees what a deletion would remove, closes the account, and opens it again', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { get, post } = await owner()
  const { accountId, accountName } = await service.makeSender()
  const path = `/app/operator/accounts/${accountId}`
  t.match(await (await get(path)).text(), 'Show what would be deleted')
  for (const days of ['91', '-1', 'x', '']) t.equal((await post(`${path}/deletion`, { days })).status, 400, days)
  const plan = await (await post(`${path}/deletion`, { days: '3' })).text()
  t.match(plan, accountName)
  t.match(plan, /<td>Domains<\/td><td class="n">1<\/td>/)
  t.match(plan, 'After 3 days')
  const number = /name="plan" value="(\d+)"/.exec(plan)?.[1] as string
  t.equal((await service.core.accounts.find(accountId))?.closedAt, null)
  t.equal((await post(`${path}/deletion/confirm`, { plan: '999999' })).status, 400)
  t.equal((await post(`${path}/deletion/confirm`, { plan: number })).status, 303)
  const closed = await (await get(path)).text()
  t.match(closed, 'This account is closed, and will be deleted at')
  t.notMatch(closed, 'Show what would be deleted')
  t.match(await (await get('/app/operator/accounts?filter=closed')).text(), accountName)
  t.equal((await post(`${path}/restore`)).status, 303)
  t.notMatch(await (await get(path)).text(), 'This account is closed')
  const log = (await service.core.audit.list(0, { after: 0, limit: 100 })).filter(
    ({ object }) => object === `account ${accountId}`,
  )
  t.strictSame(
    log.map(({ action, userName }) => `${action} ${userName}`),
    ['account.delete Ada Lovelace', 'account.restore Ada Lovelace'],
  )
})

t.test(
  'an operator who did not prove lately who they are gives the password before an account is closed',
  async (t) => {
    const { owner, service } = await openDashboard(t)
    const { post } = await owner()
    const { accountId } = await service.makeSender()
    const { id } = await service.core.retention.deletions.plan(accountId)
    const path = `/app/operator/accounts/${accountId}/deletion/confirm`
    await service.sql`update sessions set reauthenticated_at = reauthenticated_at - interval '11 minutes'`
    await service.core.people.sessions.endAll(0)
    const asked = await post(path, { plan: String(id) })
    t.equal(asked.status, 200)
    t.match(await asked.text(), new RegExp(`name="plan" value="${id}"[^]*name="proof"`))
    t.equal((await post(path, { plan: String(id), proof: 'not the password' })).status, 401)
    t.equal((await service.core.accounts.find(accountId))?.closedAt, null)
    t.equal((await post(path, { plan: String(id), proof: PASSWORD })).status, 303)
    t.ok((await service.core.accounts.find(accountId))?.closedAt)
  },
)

t.test('a page confirms the plans of its own account only; a restore voids the plans made before', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { post } = await owner()
  const { deletions } = service.core.retention
  const [{ accountId }, { accountId: other }] = [await service.makeSender(), await service.makeSender()]
  const { id } = await deletions.plan(other)
  const path = `/app/operator/accounts/${accountId}`
  t.not((await post(`${path}/deletion/confirm`, { plan: String(id) })).status, 303)
  t.equal((await deletions.list()).length, 0)
  const [first, second] = [await deletions.plan(accountId), await deletions.plan(accountId)]
  await deletions.confirm(first.id)
  await deletions.restore(accountId)
  t.match(await deletions.confirm(second.id), { why: 'unknown' })
})

t.test('members of a closed account do not reach it, until it is restored; an operator may look at it', async (t) => {
  const { owner, member, service } = await openDashboard(t)
  const operator = await owner()
  const { accountId } = await service.makeSender()
  const lena = await member(accountId, 'owner')
  t.equal((await lena.get(`/app/${accountId}`)).status, 200)
  const { id } = await service.core.retention.deletions.plan(accountId)
  await service.core.retention.deletions.confirm(id)
  passTime(5000)
  t.equal((await lena.get(`/app/${accountId}`)).status, 404)
  t.match(await (await lena.get('/app/accounts')).text(), 'Closed, and will be deleted: ')
  await operator.post(`/app/operator/accounts/${accountId}/look`)
  t.equal((await operator.get(`/app/${accountId}`)).status, 200)
  await service.core.retention.deletions.restore(accountId)
  passTime(5000)
  t.equal((await lena.get(`/app/${accountId}`)).status, 200)
})

import t from 'tap'
import { openDashboard, type TestDashboard } from './dashboard.ts'

/** Records that an account used so many credits on each of the last days. */
async function use({ service }: TestDashboard, accountId: number, perDay: number, days: number): Promise<void> {
  await service.sql`
    insert into credit_usage (account_id, day, slot, used)
    select ${accountId}::int, (service_now() at time zone 'UTC')::date - n, 0, ${perDay}::bigint
      from generate_series(0, ${days - 1}::int) n`
}

t.test('an account without a limit sees its use by day', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await dashboard.owner()
  await use(dashboard, ada.accountId, 41, 3)
  const page = await (await ada.get(`/app/${ada.accountId}/credits`)).text()
  for (const text of ['no limit', '>123<', '<td class="n">41</td>', 'No credit was granted']) t.match(page, text)
  t.notMatch(page, 'is used</b>')
})

t.test('from 80 % on, the page and the overview say how much of the credit is used', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await dashboard.owner()
  const { service } = dashboard
  const at = `/app/${ada.accountId}`
  await service.core.credits.limit(ada.accountId, 1000)
  await service.sql`update credit_balances set balance = 210 where account_id = ${ada.accountId}`
  t.notMatch(await (await ada.get(`${at}/credits`)).text(), 'of the granted credit is used')
  await service.sql`update credit_balances set balance = 150 where account_id = ${ada.accountId}`
  t.match(await (await ada.get(`${at}/credits`)).text(), '85.0 % of the granted credit is used')
  t.match(await (await ada.get(at)).text(), `href="${at}/credits">85`)
  await service.sql`update credit_balances set balance = 0 where account_id = ${ada.accountId}`
  t.match(await (await ada.get(`${at}/credits`)).text(), 'The credit is used up')
})

t.test('the forecast of a parent includes subaccounts that use its credit', async (t) => {
  const dashboard = await openDashboard(t)
  const ada = await dashboard.owner()
  const { service } = dashboard
  await ada.post(`/app/${ada.accountId}/subaccounts`, { username: 'dock2', email: 'd2@ship.example' })
  const [sub] = await service.sql<{ id: number }[]>`select id from accounts where username = 'dock2'`
  await service.core.credits.limit(ada.accountId, 1000)
  await use(dashboard, ada.accountId, 20, 14)
  await use(dashboard, sub?.id as number, 30, 14)
  const { perDay, runsOutAt, used } = await service.core.credits.outlook(ada.accountId)
  t.equal(perDay, 50)
  t.equal(used, 700)
  t.ok(Math.abs((runsOutAt as Date).getTime() - Date.now() - 20 * 86_400_000) < 60_000)
})

t.test('the history is paged, from the newest change to the oldest', async (t) => {
  const { owner, service } = await openDashboard(t)
  const ada = await owner()
  for (let amount = 1; amount <= 30; amount++) await service.core.credits.limit(ada.accountId, amount * 1000)
  const at = `/app/${ada.accountId}/credits`
  const page = await (await ada.get(at)).text()
  t.match(page, '30,000')
  t.notMatch(page, '<td class="n">5,000</td>')
  const older = new RegExp(`${at}\\?before=\\d+`).exec(page)?.[0] as string
  t.match(await (await ada.get(older)).text(), '<td class="n">5,000</td>')
})

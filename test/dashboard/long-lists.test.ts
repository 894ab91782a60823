import t from 'tap'
import { openDashboard } from './dashboard.ts'

t.test('a list ends at its 10,000th row, says so, and has no link that leads to the same page again', async (t) => {
  const { owner, service } = await openDashboard(t)
  const { accountId, get } = await owner()
  await service.sql`
    insert into suppressions (account_id, scope, value, reason)
    select ${accountId}, 'address', 's' || i || '@harbor.example', 'manual' from generate_series(1, 10070) i`
  const foot = async (offset: number) => {
    const text = await (await get(`/app/${accountId}/suppressions?offset=${offset}`)).text()
    return /<footer class="more">.*?<\/footer>/s.exec(text)?.[0] ?? ''
  }
  const before = await foot(9900)
  t.match(before, '9,901–9,950 / 10,070')
  t.match(before, 'offset=9950')
  t.notMatch(before, 'Pages end')
  for (const offset of [9950, 10_000, 99_999_999]) {
    const last = await foot(offset)
    t.match(last, '9,951–10,000 / 10,070', String(offset))
    t.match(last, 'Pages end at row 10,000. A search, a filter or the download has the others.')
    t.match(last, 'offset=9900')
    t.notMatch(last, /Next/)
  }
})

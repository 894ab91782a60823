import t from 'tap'
import { countAll, happen } from '../core/reporting/statistics/happen.ts'
import { makeService } from '../helpers/service.ts'
import { answered, postrider } from './postrider.ts'

t.test('statistics are counted again from the events', async (t) => {
  const service = await makeService(t)
  const { env, sql } = service
  const { accountId } = await service.makeSender()
  const account = ['--account', String(accountId)]
  t.match((await postrider(env, 'stats', 'recount', ...account)).stdout, `account ${accountId} has no events`)
  await happen(
    service,
    accountId,
    { type: 'complained' },
    { type: 'complained', at: "service_now() - interval '2 days'" },
  )
  await countAll(service)
  await sql`update roll_ups set complained = 7`
  t.match(await answered(env, 'stats', 'recount', ...account), { accountId, days: 3 })
  const rows = await sql`select complained::int from roll_ups where account_id = ${accountId}`
  t.strictSame(
    rows.map(({ complained }) => complained),
    [1, 1],
  )
  const today = new Date().toISOString().slice(0, 10)
  const one = await postrider(env, 'stats', 'recount', ...account, '--from', today)
  t.match(one.stdout, `recomputed 1 days of account ${accountId}, ${today} to ${today}`)
  t.match(await postrider(env, 'stats', 'recount'), { code: 2, stderr: /missing option --account/ })
  t.match(await postrider(env, 'stats', 'recount', '--account', '999999'), {
    code: 1,
    stderr: /--account: does not exist/,
  })
  t.match(await postrider(env, 'stats', 'recount', ...account, '--from', 'soon'), { code: 1, stderr: /yyyy-mm-dd/ })
})

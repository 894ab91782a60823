import t from 'tap'
import { tablesWith } from '../../../helpers/dump.ts'
import { erase } from '../../../helpers/erase.ts'
import { makeService } from '../../../helpers/service.ts'
import { acceptMessage } from '../../submission.ts'
import { countAll, happen } from './happen.ts'

t.test('erasing a recipient changes no count, and removes the address from the names of tags', async (t) => {
  const service = await makeService(t)
  const { core, sql } = service
  const [sender, other] = [await service.makeSender(), await service.makeSender()]
  const tags = ['berth', 'for lena@harbor.example', 'For Lena@Harbor.example']
  const rows = () => sql<{ name: string; row: string }[]>`
    select subject || ' ' || name as name, concat_ws(' ', processed, sent, opened, unique_opened, delivery_times is not null) as row
      from roll_ups where account_id = ${sender.accountId} order by subject, name`
  for (const each of [tags, ['berth']]) {
    const { messageId } = await acceptMessage(service, sender, { tags: each })
    const detail = { first: true }
    await happen(service, sender.accountId, { type: 'sent', messageId }, { type: 'opened', messageId, detail })
  }
  await acceptMessage(service, other, { tags })
  await countAll(service)
  const before = await rows()
  t.equal(before.length, 6)

  await erase(core, sender.accountId, ['lena@harbor.example'])
  await countAll(service)
  const named = (list: readonly { name: string; row: string }[]) =>
    list.filter(({ name }) => !/lena|other|^recipient_domain $/i.test(name))
  t.strictSame(named(await rows()), named(before))
  t.strictSame(
    (await rows()).filter(({ name }) => /lena|other/i.test(name)),
    [{ name: 'other tag ', row: '2 2 2 2 t' }],
  )
  const { tags: left } = await core.stats.tags({ accountId: sender.accountId, prefix: '', limit: 10, offset: 0 })
  t.strictSame(
    left.map(({ name }) => name),
    ['berth'],
  )
  const theirs = await core.stats.tags({ accountId: other.accountId, prefix: '', limit: 10, offset: 0 })
  t.equal(theirs.total, 3, "another account's stay")
  await sql`delete from tags where account_id = ${other.accountId}`
  await sql`delete from roll_ups where account_id = ${other.accountId}`
  const still = await tablesWith(sql, 'lena@harbor.example')
  t.notOk(
    still.some((table) => /roll_ups|tags/.test(String(table))),
    JSON.stringify(still),
  )
})

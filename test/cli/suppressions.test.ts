import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { answered, postrider } from './postrider.ts'

const service = await makeService(t)
const sender = await service.makeSender()
const own = ['--account', String(sender.accountId)]
const command = (act: string, ...more: string[]) => answered(service.env, 'suppression', act, ...more)

t.test('suppressions of an account are added, listed and removed', async (t) => {
  const added = await command('add', ...own, '--email', 'Gone@harbor.example')
  t.strictSame(added, { scope: 'address', value: 'Gone@harbor.example', added: 1 })
  await service.core.suppressions.addAll({ accountId: sender.accountId, domains: ['spam.example'], reason: 'abuse' })
  t.match(await command('list', ...own), [
    { scope: 'address', value: 'gone@harbor.example', reason: 'manual', since: /^20/ },
    { scope: 'domain', value: 'spam.example' },
  ])
  t.match(await command('list', ...own, '--reason', 'abuse'), [{ value: 'spam.example' }])
  t.match(await command('remove', ...own, '--domain', 'spam.example'), { removed: 1 })
})

t.test("the operator's suppressions hold for all accounts, and are a list of their own", async (t) => {
  const { stdout } = await postrider(service.env, 'suppression', 'add', '--global', '--domain', 'gone.example')
  t.equal(stdout, 'gone.example is suppressed\n')
  const held = await service.core.suppressions.holding(sender.accountId, 'lena@gone.example')
  t.match(held, [{ global: true, reason: 'global' }])
  const listed = await postrider(service.env, 'suppression', 'list', '--global')
  t.match(listed.stdout, /^gone\.example +domain +global +20/m)
  t.match(await command('remove', '--global', '--domain', 'gone.example'), { removed: 1 })
  t.match(await service.core.audit.list(0, { after: 0, limit: 10 }), [
    { action: 'suppression.add', keyId: null, address: null },
    { action: 'suppression.remove' },
  ])
})

t.test("another provider's list is imported as it was exported", async (t) => {
  const { accountId } = await service.makeSender()
  const file = join(t.testdir({}), 'postmark.csv')
  const rows = ['a@x.example,SpamComplaint', '*@y.example,ManualSuppression', 'b@x.example,Else']
  await writeFile(file, ['EmailAddress,SuppressionReason', ...rows].join('\r\n'))
  const ran = await postrider(service.env, 'suppression', 'import', file, '--account', String(accountId))
  t.match(ran, { code: 1, stdout: /^2 added, 0 known, 1 invalid of 3 rows\n[\s\S]*^4 .*\[reason\]/m })
  t.match((await service.core.suppressions.list(accountId, { limit: 9, offset: 0 })).suppressions, [
    { value: 'a@x.example', reason: 'abuse' },
    { scope: 'domain', value: 'y.example', reason: 'manual' },
  ])
})

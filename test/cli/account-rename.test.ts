import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { answered, postrider } from './postrider.ts'

const { env, core, ...service } = await makeService(t)

t.test('an account is renamed, with its subaccounts, and its log has both names', async (t) => {
  const { accountId, accountName } = await service.makeSender()
  const id = String(accountId)
  await answered(env, 'subaccount', 'create', 'dock2', '--account', id, '--email', 'd2@ship.example')
  t.match(await answered(env, 'account', 'rename', id, ' Harbor Shipping '), { id: accountId, name: 'Harbor Shipping' })
  const accounts = await core.accounts.list()
  t.strictSame(
    accounts.map(({ name }) => name),
    ['Harbor Shipping', 'Harbor Shipping/dock2'],
  )
  const log = await core.audit.latest(accountId, { limit: 1 })
  t.match(log, [{ action: 'account.rename', before: { name: accountName }, after: { name: 'Harbor Shipping' } }])
  await answered(env, 'subaccount', 'create', 'dock3', '--account', id, '--email', 'd3@ship.example')
  t.equal((await core.accounts.list()).at(-1)?.name, 'Harbor Shipping/dock3', 'the new name is that of later ones')
})

t.test(
  'a name that is blank, too long or in use is refused, and so is an account that cannot have another',
  async (t) => {
    const { accountId, accountName } = await service.makeSender()
    const id = String(accountId)
    const { accountName: taken } = await service.makeSender()
    await answered(env, 'subaccount', 'create', 'dock4', '--account', id, '--email', 'd4@ship.example')
    const [subaccount] = (await core.accounts.list()).slice(-1)
    const refused = async (...args: string[]) => {
      const { code, stderr } = await postrider(env, 'account', 'rename', ...args)
      return `${code} ${stderr.trim()}`
    }
    t.match(await refused(id, ' '), /^1 .*name.*1 to 100 characters/)
    t.match(await refused(id, 'x'.repeat(101)), /^1 .*name.*1 to 100 characters/)
    t.match(await refused(id, 'a\nb'), /^1 .*name.*control characters/)
    t.match(await refused(id, taken.toUpperCase()), /^1 .*name.*already used/)
    t.match(await refused(id), /^2 .*name/)
    t.match(await refused('Harbor', 'Other'), /^2 .*account id must be a number/)
    t.match(await refused('999999', 'Other'), /^1 .*account.*does not exist/)
    t.match(await refused(String(subaccount?.id), 'Other'), /^1 .*account.*is a subaccount/)
    t.equal((await core.accounts.find(accountId))?.name, accountName)
  },
)

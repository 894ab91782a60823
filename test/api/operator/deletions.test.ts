import t from 'tap'
import { answered } from '../../cli/postrider.ts'
import { moveClock } from '../../helpers/database.ts'
import { makeOperator } from './operator.ts'

t.test(
  'the deletion of an account is planned, confirmed, listed and taken back, with the key in the log',
  async (t) => {
    const { call, service, sender, keyId } = await makeOperator(t)
    const { accountId, accountName } = sender
    const planned = await call(`/accounts/${accountId}/deletion`, { body: { graceDays: 3 } })
    t.match(planned, {
      status: 200,
      body: { accountId, name: accountName, graceDays: 3, counts: { domains: { count: 1, partial: false } } },
    })
    const confirm = `/deletions/${planned.body.id}/confirm`
    t.match(await call(confirm, { body: {} }), { status: 200, body: { accountId, state: 'closed', graceDays: 3 } })
    t.match(await call(confirm, { body: {} }), { status: 409, body: { error: { code: 'planConfirmed' } } })
    const { body } = await call('/deletions')
    t.match(body, { deletions: [{ accountId, state: 'closed' }] })
    t.strictSame(body.deletions, await answered(service.env, 'account', 'deletions'))
    t.match(await call(`/accounts/${accountId}/deletion`, { body: {} }), {
      status: 400,
      body: { error: { message: /account.*closed already/ } },
    })
    t.match(await call(`/accounts/${accountId}/restore`, { body: {} }), { status: 200, body: { state: 'restored' } })
    t.match(await call(`/accounts/${accountId}/restore`, { body: {} }), {
      status: 400,
      body: { error: { message: /account.*not closed/ } },
    })
    const by = { keyId, address: '127.0.0.1', object: `account ${accountId}` }
    t.match(await service.core.audit.list(0, { after: 1, limit: 10 }), [
      { action: 'account.delete', ...by, after: { name: accountName } },
      { action: 'account.restore', ...by },
    ])
  },
)

t.test('a plan that is unknown or has expired is refused, and days out of their range', async (t) => {
  const { call, service, sender } = await makeOperator(t)
  const path = `/accounts/${sender.accountId}/deletion`
  t.match(await call('/deletions/99/confirm', { body: {} }), { status: 404, body: { error: { code: 'planUnknown' } } })
  for (const graceDays of [-1, 91, 1.5, '7'])
    t.match(await call(path, { body: { graceDays } }), { status: 400, body: { error: { message: /graceDays/ } } })
  t.match(await call('/accounts/999999/deletion', { body: {} }), {
    status: 400,
    body: { error: { message: /account.*does not exist/ } },
  })
  const { body } = await call(path, { body: {} })
  await moveClock(service.sql, '11 minutes')
  t.match(await call(`/deletions/${body.id}/confirm`, { body: {} }), {
    status: 409,
    body: { error: { code: 'planExpired' } },
  })
  t.equal((await service.core.accounts.find(sender.accountId))?.closedAt, null)
})

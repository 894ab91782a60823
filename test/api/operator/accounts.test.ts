import t from 'tap'
import { answered } from '../../cli/postrider.ts'
import { makeOperator } from './operator.ts'

t.test('an account is held and released, with what the commands print, and the log has the key', async (t) => {
  const { call, service, sender, keyId } = await makeOperator(t)
  const { accountId } = sender
  const id = String(accountId)
  const path = `/accounts/${id}`
  const held = await call(`${path}/hold`, { body: { reason: 'we asked', class: 'bulk' } })
  t.match(held, {
    status: 200,
    body: { holds: [{ rule: 'operator', level: 'held', classes: ['bulk'], reason: 'we asked' }] },
  })
  t.strictSame((await call(`${path}/standing`)).body, await answered(service.env, 'account', 'standing', id))
  t.strictSame((await call('/holds')).body.holds, await answered(service.env, 'account', 'standing'))
  t.match(await call(`${path}/rules`, { body: { rules: 'strict' } }), {
    status: 200,
    body: { rules: 'strict', hasOwnRules: true },
  })
  t.match((await call(`${path}/rules`, { body: { rules: 'default' } })).body, { rules: 'none', hasOwnRules: false })
  t.match(await call(`${path}/release`, { body: {} }), { status: 200, body: { dropped: 0, rules: ['operator'] } })
  t.strictSame((await call('/holds')).body, { holds: [] })
  const by = { keyId, address: '127.0.0.1', object: `account ${id}` }
  t.match(await service.core.audit.list(0, { after: 1, limit: 10 }), [
    { action: 'account.hold', ...by },
    { action: 'account.rules', ...by },
    { action: 'account.rules', ...by },
    { action: 'account.release', ...by },
  ])
})

t.test('an account is renamed with its subaccounts, and the log has both names and the key', async (t) => {
  const { call, service, sender, keyId } = await makeOperator(t)
  const { accountId, accountName } = sender
  const path = `/accounts/${accountId}/rename`
  t.match(await call(path, { body: { name: ' Harbor Shipping ' } }), {
    status: 200,
    body: { id: accountId, name: 'Harbor Shipping' },
  })
  t.match(await call(path, { body: { name: '' } }), { status: 400, body: { error: { message: /name/ } } })
  t.match(await call('/accounts/999999/rename', { body: { name: 'Other' } }), {
    status: 400,
    body: { error: { message: /account/ } },
  })
  t.match((await service.core.audit.list(0, { after: 1, limit: 10 })).slice(0, 1), [
    {
      action: 'account.rename',
      keyId,
      object: `account ${accountId}`,
      before: { name: accountName },
      after: { name: 'Harbor Shipping' },
    },
  ])
})

import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { answered, postrider } from './postrider.ts'

t.test('an operator key is created, listed and revoked, and no account lists it', async (t) => {
  const { env, core, makeSender } = await makeService(t)
  const sender = await makeSender()
  const made = await postrider(env, 'key', 'create', '--operator', '--name', 'night shift', '--ip', '192.0.2.0/24')
  t.match(made, { code: 0, stdout: /^key \d+\noperator key pr_\w{33} \(shown once\)\n$/ })
  const { keyId, operatorKey } = await answered<{ keyId: number; operatorKey: string }>(
    env,
    'key',
    'create',
    '--operator',
    '--until',
    '2099-01-01',
  )
  t.match(operatorKey, /^pr_/)
  const list = (await postrider(env, 'key', 'list', '--operator')).stdout
  t.match(list, /night shift +192\.0\.2\.0\/24 +never +active\n/)
  t.match(list, /OPERATOR_NETWORKS +never +active until 2099-01-01T00:00:00\.000Z/)
  t.notMatch(list, operatorKey)
  t.equal((await core.auth.listKeys(sender.accountId)).length, 1)
  t.match(await postrider(env, 'key', 'revoke', String(keyId), '--yes'), {
    code: 0,
    stdout: `operator key ${keyId} is revoked\n`,
  })
  t.match((await postrider(env, 'key', 'list', '--operator')).stdout, /revoked 20/)
  t.match(await core.audit.list(0, { after: 0, limit: 10 }), [
    { action: 'operator-key.create', after: { name: 'night shift', networks: ['192.0.2.0/24'] } },
    { action: 'operator-key.create', object: `key ${keyId}` },
    { action: 'operator-key.revoke', object: `key ${keyId}` },
  ])
})

t.test('what does not apply to operator keys is refused', async (t) => {
  const { env } = await makeService(t)
  for (const [args, problem, code] of [
    [['--scope', 'send'], /--scope cannot be combined with --operator/, 2],
    [['--account', '1'], /--account cannot be combined with --operator/, 2],
    [['--ip', 'here'], /--ip: "here" is not a valid IP address or network/, 1],
    [['--until', '2001-01-01'], /--until: must be in the future/, 1],
    [['--name', 'a'.repeat(101)], /--name: must have at most 100 characters/, 1],
  ] as const) {
    t.match(await postrider(env, 'key', 'create', '--operator', ...args), { code, stderr: problem })
  }
})

t.test('the audit log of the installation or of an account is listed, page by page', async (t) => {
  const { env, makeSender } = await makeService(t)
  const { accountId } = await makeSender()
  t.match(await postrider(env, 'audit', 'list'), {
    code: 0,
    stdout: /^nothing that concerns all accounts was changed.*"audit list --account ID" lists/,
  })
  await postrider(env, 'queue', 'pause', 'google', '--reason', 'trial')
  await postrider(env, 'queue', 'resume', 'google')
  const [first, ...rest] = await answered<{ number: number; action: string }[]>(env, 'audit', 'list')
  t.match(
    [first, ...rest],
    [
      { number: 1, action: 'queue.pause' },
      { number: 2, action: 'queue.resume' },
    ],
  )
  t.notOk(first && 'hash' in first)
  t.match(
    (await postrider(env, 'audit', 'list', '--limit', '1')).stdout,
    /operator .*queue\.pause.*reason trial.*\nthere may be more; continue with --after 1\n$/s,
  )
  t.match((await postrider(env, 'audit', 'list', '--after', '1')).stdout, /queue\.resume/)
  t.match((await postrider(env, 'audit', 'list', '--account', String(accountId))).stdout, /key\.create/)
  t.match(await postrider(env, 'audit', 'list', '--limit', '0'), { code: 2, stderr: /--limit must be from 1 to 1000/ })
})

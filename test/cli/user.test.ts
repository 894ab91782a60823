import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { answered, postrider } from './postrider.ts'

const PASSWORD = 'correct horse battery'
const CLIENT = { address: '192.0.2.1' }
const tokenOf = (url: string) => new URL(url).searchParams.get('token') as string

t.test('postrider user link prints the link that makes the first user, until there is an operator', async (t) => {
  const { env, core } = await makeService(t)
  const former = await answered<{ url: string }>(env, 'user', 'link')
  const { stdout } = await postrider(env, 'user', 'link')
  t.match(stdout, /^\S+ \(works once, until \S+; links printed before no longer work\)$/m)
  t.notOk(await core.people.firstLink.isValid(tokenOf(former.url)))
  const { url } = await answered<{ url: string }>(env, 'user', 'link')
  t.match(url, /^http:\/\/localhost:\d+\/app\/first\?token=[\w-]{43}$/)
  const person = { name: 'First', email: 'first@people.example', password: PASSWORD }
  await core.people.firstLink.use(tokenOf(url), person, CLIENT)
  t.match(await postrider(env, 'user', 'link'), {
    code: 1,
    stderr: /there is an operator already; use postrider user link EMAIL/,
  })
  const reset = await answered<{ url: string }>(env, 'user', 'link', person.email)
  t.match(reset.url, /\/app\/reset\?token=/)
  t.match(
    (await postrider(env, 'user', 'link', person.email)).stdout,
    /; links printed before still work, until one is/,
  )
  t.match(await core.people.passwordReset.use(tokenOf(reset.url), 'another fine secret', CLIENT), { kind: 'session' })
})

t.test('users are added, listed, given roles, disabled and freed of a second factor', async (t) => {
  const { env, core, makeSender } = await makeService(t)
  const { accountId } = await makeSender()
  const account = String(accountId)
  const ada = ['ada@people.example', '--name', 'Ada']
  const { url, userId } = await answered<{ url: string; userId: number }>(
    env,
    'user',
    'add',
    ...ada,
    '--account',
    account,
    '--role',
    'owner',
  )
  await core.people.passwordReset.use(tokenOf(url), PASSWORD, CLIENT)
  t.match(await postrider(env, 'user', 'add', 'bob@people.example', '--name', 'Bob', '--operator'), { code: 0 })
  const list = (await postrider(env, 'user', 'list')).stdout
  t.match(list, new RegExp(`Ada +ada@people\\.example +active +no +\\d\\S+ +account ${accountId}: owner`))
  t.match(list, /Bob +bob@people\.example +active +no +never +operator/)
  const bob = ['user', 'role', 'bob@people.example'] as const
  t.match(await postrider(env, ...bob, '--account', account, '--role', 'owner'), { code: 0 })
  t.match(await postrider(env, ...bob, '--account', account, '--role', 'viewer'), { code: 0 })
  t.match(await core.people.members.list(accountId), [
    { name: 'Ada', role: 'owner' },
    { name: 'Bob', role: 'viewer' },
  ])
  t.match(await postrider(env, ...bob, '--account', account, '--role', 'none'), { code: 0 })
  t.equal((await core.people.members.list(accountId)).length, 1)
  t.match(await postrider(env, ...bob, '--operator', 'off'), { code: 1, stderr: /last owner or operator/ })
  t.match(await postrider(env, 'user', 'disable', 'ada@people.example'), { code: 1, stderr: /last owner or operator/ })
  t.match(await postrider(env, ...bob, '--account', account, '--role', 'owner'), { code: 0 })
  t.match(await postrider(env, 'user', 'disable', 'ada@people.example'), {
    code: 0,
    stdout: `user ${userId} is disabled\n`,
  })
  t.match(await core.people.logIn({ email: 'ada@people.example', password: PASSWORD, ...CLIENT }), { kind: 'refused' })
  t.match(await postrider(env, 'user', 'enable', 'ada@people.example'), { code: 0 })
  t.match(await postrider(env, 'user', 'reset-2fa', 'ada@people.example', '--yes'), {
    code: 0,
    stdout: /without second factor/,
  })
  t.match(await core.people.logIn({ email: 'ada@people.example', password: PASSWORD, ...CLIENT }), { kind: 'session' })
})

t.test('a user who cannot get the role is not made', async (t) => {
  const { env, core } = await makeService(t)
  const ada = ['user', 'add', 'ada@people.example', '--name', 'Ada', '--role', 'viewer']
  t.match(await postrider(env, ...ada, '--account', '99'), { code: 1, stderr: '--account: does not exist' })
  t.equal(await core.people.users.find('ada@people.example'), undefined)
})

t.test('wrong calls of postrider user say what is wrong', async (t) => {
  const { env } = await makeService(t)
  for (const [args, problem, code] of [
    [['add', 'x@people.example', '--name', 'X'], /missing option --account with --role, or --operator/, 2],
    [['add', 'x@people.example', '--name', 'X', '--account', '1'], /--account and --role must be given together/, 2],
    [
      ['add', 'nowhere', '--name', 'X', '--operator'],
      /Parameter \[email\] is invalid: is not a valid email address/,
      1,
    ],
    [['role', 'x@people.example'], /give either --account with --role, or --operator/, 2],
    [['role', 'x@people.example', '--operator', 'maybe'], /--operator must be on or off/, 2],
    [['disable', 'x@people.example'], /user x@people\.example not found/, 1],
    [['disable'], /missing argument: email address/, 2],
  ] as const) {
    t.match(await postrider(env, 'user', ...args), { code, stderr: problem }, args.join(' '))
  }
})

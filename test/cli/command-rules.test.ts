import { Readable } from 'node:stream'
import t from 'tap'
import { COMMANDS } from '../../packages/cli/src/commands/index.ts'
import { readUsage } from '../../packages/cli/src/usage.ts'
import { makeService } from '../helpers/service.ts'
import { postrider, postriderProcess } from './postrider.ts'

/** Verbs of what no other command brings back. */
const DESTROYING = /^(?:cancel|clear|delete|discard|drop|fail|forget|purge|remove|reset-2fa|revoke)$/
/** Other spellings of where a page begins. */
const OTHER_PAGING = ['before', 'cursor', 'next', 'offset', 'page', 'skip', 'start']
/** Lists that are printed whole, from a place on. */
const WHOLE = ['events']

/** A call of each command that destroys something, with all it needs. */
const CALLS: Readonly<Record<string, string>> = {
  'account release': '1 --purge',
  'attachment delete': '1 --account 1',
  'batch cancel': 'x --account 1',
  'domain delete': 'ship.example',
  'editable-template delete': 'x --account 1',
  'export delete': 'x --account 1',
  'relay-network remove': '192.0.2.1',
  'failed-address remove': '--account 1 --kind block --all',
  'group delete': '1 --account 1',
  'key revoke': '1',
  'key rotate': '1 --overlap-hours 0',
  'message cancel': '01a20468da3678e4ae0150514402a171',
  'message fail': '01a20468da3678e4ae0150514402a171',
  'person forget': 'lena@harbor.example --account 1',
  'pool remove': 'bulk',
  'pool rule remove': '--rule 1',
  'returns delete': '--kind letter',
  'smart-host remove': 'backup',
  'source remove': 'out1',
  'subaccount delete': 'dock2 --account 1',
  'suppression remove': '--account 1 --all --reason hardbounce',
  'template delete': '1 --account 1',
  'user reset-2fa': 'lena@harbor.example',
  'webhook delete': '1 --account 1',
  'webhook rotate': '1 --account 1 --overlap-hours 0',
}
/** What they destroy has no name, so none can be wrong. */
const OF_A_KIND = ['returns delete']
/** No database answers there. */
const NOWHERE = { DATABASE_URL: 'postgres://127.0.0.1:1/none', SECRET_KEY: 'a secret key that only tests may know' }
const optionsOf = (usage: string) => readUsage(usage).options.map(({ name }) => name)

t.test('what no other command brings back asks first, or makes a plan', async (t) => {
  for (const { name, usage, destroys } of COMMANDS) {
    const isPlanned = optionsOf(usage).includes('confirm')
    const isDestroying = DESTROYING.test(name.split(' ').at(-1) as string) || optionsOf(usage).includes('purge')
    if (isDestroying) t.ok(isPlanned || destroys, `${name}: destroys, or --confirm`)
    if (destroys) t.ok(optionsOf(usage).includes('yes'), `${name}: --yes`)
  }
  t.strictSame(
    COMMANDS.filter(({ destroys }) => destroys)
      .map(({ name }) => name)
      .sort(),
    Object.keys(CALLS).sort(),
    'each is called below',
  )
})

for (const [name, args] of Object.entries(CALLS)) {
  t.test(`${name} is refused without a terminal and --yes, before anything is opened`, async (t) => {
    const call = [...name.split(' '), ...args.split(' ')]
    t.match(await postrider(NOWHERE, ...call), { code: 2, stderr: /missing option --yes/ })
  })
}

t.test('who would destroy what is not there is told so, and not asked', async (t) => {
  const { env } = await makeService(t)
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') as PropertyDescriptor
  t.teardown(() => Object.defineProperty(process, 'stdin', stdin))
  for (const [name, args] of Object.entries(CALLS)) {
    // A terminal on which the input has ended: a question is cancelled.
    const value = Object.assign(Readable.from([]), { isTTY: true })
    Object.defineProperty(process, 'stdin', { configurable: true, value })
    const { code, stderr } = await postrider(env, ...name.split(' '), ...args.split(' '))
    t.equal(code, 1, name)
    if (OF_A_KIND.includes(name)) t.match(stderr, /cancelled/, name)
    else t.notMatch(stderr, /cancelled|Continue/, `${name}: ${stderr.trim()}`)
  }
})

t.test('a question without an answer is cancelled, and nothing is changed', async (t) => {
  // A terminal on which the input has ended.
  const service = await makeService(t)
  const { key } = await service.core.auth.createKey({ accountId: (await service.makeSender()).accountId })
  const env = { ...service.env, NODE_OPTIONS: '--import=data:text/javascript,process.stdin.isTTY=true' }
  const { code, stderr } = await postriderProcess(env, 'key', 'revoke', String(key.id))
  t.equal(code, 1)
  t.match(stderr, /Continue\? \[y\/N\] \npostrider: cancelled; nothing was changed\n$/)
})

t.test('what is called in a way that destroys nothing does not ask', async (t) => {
  for (const call of [
    'account release 1',
    'key rotate 1',
    'suppression remove --account 1 --email lena@harbor.example',
  ])
    t.notMatch((await postrider(NOWHERE, ...call.split(' '))).stderr, /--yes: stdin/)
})

t.test('pages have --limit and --after, in all lists', async (t) => {
  for (const { name, usage } of COMMANDS) {
    const options = optionsOf(usage)
    t.strictSame(
      options.filter((option) => OTHER_PAGING.includes(option)),
      [],
      name,
    )
    if (options.includes('after') && !WHOLE.includes(name)) t.ok(options.includes('limit'), `${name}: --limit`)
  }
  t.ok(COMMANDS.filter(({ usage }) => optionsOf(usage).includes('after')).length > 12)
})

t.test('no option of paging goes by another name in help texts', async (t) => {
  for (const command of COMMANDS)
    for (const text of Object.values(command.parameters ?? {}))
      t.notMatch(text, /--(?:offset|before|next)\b/, command.name)
})

import t from 'tap'
import { progressOn } from '../../packages/cli/src/importing/progress.ts'
import { makeService, type Sender } from '../helpers/service.ts'
import { startFake } from './fake-source.ts'
import { begin, postrider } from './postrider.ts'

const here = await makeService(t)
const base = await here.openApi()
const from = await here.makeSender()
await here.core.groups.create(from.accountId, { name: 'news', description: '', isDefault: false })
await here.core.suppressions.addAll({ accountId: from.accountId, emails: ['a@harbor.example'], reason: 'unsubscribe' })

const line = (to: Sender, ...more: string[]) => [
  'import',
  'sendgrid',
  '--account',
  String(to.accountId),
  '--key',
  'k',
  ...more,
]

/** The account's own list. */
async function suppressionsOf({ accountId }: Sender) {
  return (await here.core.suppressions.list(accountId, { limit: 10, offset: 0 })).suppressions
}

t.test('an address on several lists of the source is kept once, with the stronger reason', async (t) => {
  const to = await here.makeSender()
  const fake = await startFake(t, {
    '/v3/suppression/spam_reports': [{ created: 1_600_000_000, email: 'A@harbor.example', ip: '192.0.2.1' }],
    '/v3/suppression/unsubscribes': [
      { created: 1_500_000_000, email: 'a@harbor.example' },
      { created: 1_500_000_001, email: 'b@harbor.example' },
    ],
    '/v3/suppression/bounces': ['a', 'b', 'c'].map((one) => ({
      created: 1_400_000_000,
      email: `${one}@harbor.example`,
      reason: '550 no',
      status: '5.1.1',
    })),
    '/v3/suppression/blocks': [{ created: 1, email: 'd@harbor.example', reason: '', status: '' }],
  })
  const { code, stdout } = await postrider(here.env, ...line(to, '--yes', '--only', 'suppressions', '--url', fake))
  t.equal(code, 0)
  t.match(stdout, /^bounces +1 +0 +2 +0 +0$/m)
  t.match(stdout, /^ +blocks \(1\): /m)
  t.match(stdout, /^ +IP addresses of complaints \(1\): /m)
  t.match(await suppressionsOf(to), [
    { value: 'a@harbor.example', reason: 'abuse', since: new Date(1_600_000_000_000) },
    { value: 'b@harbor.example', reason: 'unsubscribe', since: new Date(1_500_000_001_000) },
    { value: 'c@harbor.example', reason: 'hardbounce' },
  ])
})

t.test('a plain text of its own is kept, and what has no counterpart or does not fit is told', async (t) => {
  const to = await here.makeSender()
  const template = `d-${'5'.repeat(32)}`
  const id = (digit: number) => `${digit}a8b5c1e-3c1f-4b52-9d0a-0d3f6f1f2a11`
  const version = {
    name: 'v',
    subject: 's',
    html_content: '<p>Hello</p>',
    editor: 'design',
    thumbnail_url: '//x.example/1.png',
  }
  const listed = [id(1), id(2), id(3)].map((one) => ({ id: one, active: 0 }))
  const fake = await startFake(t, {
    '/v3/templates': { result: [{ id: template, name: 'T', generation: 'dynamic', versions: listed }], _metadata: {} },
    [`/v3/templates/${template}/versions/${id(1)}`]: {
      ...version,
      plain_content: 'Ours',
      generate_plain_content: true,
    },
    [`/v3/templates/${template}/versions/${id(2)}`]: { ...version, test_data: 'not JSON' },
    [`/v3/templates/${template}/versions/${id(3)}`]: { ...version, name: 'n'.repeat(101) },
    '/v3/subusers': [{ id: 1, username: 'shop' }],
  })
  const { code, stdout, stderr } = await postrider(here.env, ...line(to, '--yes', '--only', 'templates', '--url', fake))
  t.equal(code, 1)
  t.match(stderr, /2 rejected/)
  t.match(stdout, /version .* "v": .*testData.*JSON/)
  t.match(stdout, /at most 100 characters/)
  for (const what of ['thumbnails of versions (3)', 'versions of the design editor (3)', 'subusers (1)', 'API keys']) {
    t.ok(stdout.includes(what), what)
  }
  const stored = await here.core.editableTemplates.show(to.accountId, template)
  t.match(stored.versions, [{ plain: 'Ours', generatePlain: true, active: false, editor: 'design' }])
})

t.test('wrong calls, and a key that is not known, are told in a sentence', async (t) => {
  const to = await here.makeSender()
  const account = String(to.accountId)
  const wrong: readonly (readonly [
    args: readonly string[],
    code: number,
    said: RegExp,
    env?: Record<string, string>,
  ])[] = [
    [['--key', 'k', '--yes'], 2, /missing option --account\nusage: postrider import sendgrid --account ID/],
    [['--account', account, '--yes'], 2, /missing option --key .*SENDGRID_API_KEY/],
    [['--account', account, '--key', 'k'], 2, /missing option --yes: stdin is not a terminal/],
    [['--account', account, '--key', 'se cret', '--yes'], 2, /the API key contains invalid characters/],
    [['--account', account, '--key', 'k', '--url', 'ftp://x.example'], 2, /--url must be an http or https URL/],
    [['--account', account, '--key', 'k', '--url', 'http://u:p@x.example'], 2, /no user name/],
    [['--account', account, '--key', 'k', '--only', 'mail'], 2, /--only must be .* of groups, templates, suppressions/],
    [['--account', '999999', '--key', 'k', '--url', base, '--yes'], 1, /--account: /],
    [
      ['--account', account, '--url', base, '--yes'],
      1,
      /the source rejected the API key \(401\)/,
      { SENDGRID_API_KEY: 'secret-1' },
    ],
  ]
  for (const [args, code, said, env = {}] of wrong) {
    const ran = await postrider({ ...here.env, ...env }, 'import', 'sendgrid', ...args)
    t.equal(ran.code, code, ran.stderr)
    t.match(ran.stderr, said)
    t.notMatch(ran.stderr, /se cret|secret-1|u:p@/)
  }
  const piped = begin(
    here.env,
    ['import', 'sendgrid', '--account', account, '--key', '-', '--url', `${base}/v3/`, '--dry-run'],
    `${from.apiKey}\n`,
  )
  const { code, stdout, stderr } = await piped.ended
  t.equal(code, 0, stderr)
  t.match(stdout, /^Dry run for account \d+, from http.*: nothing was changed\.$/m)
  t.match(stdout, /^unsubscribes +1 +0 +0 +0 +0$/m)
  t.match(stderr, /^groups +\[#{30}\] 1\/1$/m)
  t.match(stderr, /^unsubscribes +1$/m)
})

t.test(
  'on a terminal progress is a bar that is drawn over itself, elsewhere a line when each part is done',
  async (t) => {
    const drawn = (isTTY: boolean): string => {
      const pieces: string[] = []
      const progress = progressOn({ isTTY, write: (text: string) => pieces.push(text) > 0 })
      progress.show('groups', 1, 2)
      progress.show('groups', 2, 2)
      for (let read = 0; read <= 5000; read += 500) progress.show('bounces', read)
      progress.end()
      return pieces.join('')
    }
    t.match(drawn(true), /^\r\x1b\[K(groups +)\[#{15}\.{15}\] 1\/2\r\x1b\[K\1\[#{30}\] 2\/2\n\r/)
    t.ok(drawn(true).endsWith('\r\x1b[Kbounces             5000\n'))
    t.match(drawn(false), /^groups +\[#{15}\.{15}\] 1\/2\ngroups +\[#{30}\] 2\/2\nbounces +5000\n$/)
  },
)

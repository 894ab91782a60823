import { EventEmitter, once } from 'node:events'
import t from 'tap'
import { ask } from '../api/v3/ask.ts'
import { makeService, type Sender } from '../helpers/service.ts'
import { startFake } from './fake-source.ts'
import { postrider } from './postrider.ts'

const here = await makeService(t)
const base = await here.openApi()

const line = (to: Sender, url: string, ...more: string[]) => [
  ...['import', 'sendgrid', '--account', String(to.accountId), '--key', 'k', '--url', url],
  ...more,
]

const TEMPLATE = `d-${'5'.repeat(32)}`
const id = (digit: number) => `${digit}a8b5c1e-3c1f-4b52-9d0a-0d3f6f1f2a11`

/** A source with one dynamic template, whose versions have this HTML. */
function templates(...htmls: string[]) {
  const versions = htmls.map((html, at) => ({
    id: id(at),
    name: `v${at}`,
    subject: 'Berth {{number}}',
    html_content: html,
    plain_content: 'Berth',
    active: at === 0 ? 1 : 0,
  }))
  return {
    '/v3/templates': { result: [{ id: TEMPLATE, name: 'berth', generation: 'dynamic', versions }] },
    ...Object.fromEntries(versions.map((version) => [`/v3/templates/${TEMPLATE}/versions/${version.id}`, version])),
  }
}

t.test('versions from which no message can be built are listed, and the status is 3', async (t) => {
  const to = await here.makeSender()
  const url = await startFake(t, templates('<p>{{number}}</p>', '<p>\n{{#if (eq a "b")}}c{{/if}}', '{{> footer}}'))
  const only = ['--only', 'templates']
  const planned = await postrider(here.env, ...line(to, url, ...only, '--dry-run'))
  t.equal(planned.code, 3)
  const heading = planned.stdout.indexOf('Versions from which no message can be built')
  t.match(planned.stdout.slice(heading), /version 1a.* "v1": HTML, line 2, column 7: unknown helper "eq"; use equals$/m)
  t.match(planned.stdout.slice(heading), /version 2a.* "v2": HTML, line 1, column 1: partials are not supported/)
  t.notMatch(planned.stdout.slice(heading), /"v0"/)
  t.equal(
    (await here.core.editableTemplates.list({ accountId: to.accountId, generations: ['dynamic'], limit: 1, offset: 0 }))
      .total,
    0,
  )
  const done = await postrider(here.env, ...line(to, url, ...only, '--yes', '--json'))
  t.equal(done.code, 3)
  t.match(JSON.parse(done.stdout), { unusable: { length: 2 }, counts: { versions: { added: 3 } } })
  const [version] = (await here.core.editableTemplates.show(to.accountId, TEMPLATE)).versions.filter(
    ({ name }) => name === 'v1',
  )
  t.match(version?.problem, /^HTML, line 2, column 7: /)
})

t.test('a source whose versions are all usable gives 0', async (t) => {
  const to = await here.makeSender()
  const url = await startFake(t, templates('<p>{{number}}</p>'))
  for (const how of ['--dry-run', '--yes']) t.equal((await postrider(here.env, ...line(to, url, how))).code, 0)
})

t.test('bounces keep their reason, status and time, also those that were imported without', async (t) => {
  const to = await here.makeSender()
  const reason = '550 5.1.1 The email account that you tried to reach does not exist'
  const bounces = ['a', 'b'].map((one) => ({
    created: 1_400_000_000,
    email: `${one}@harbor.example`,
    reason,
    status: '5.1.1',
  }))
  const odd = { created: 1_400_000_001, email: 'c@harbor.example', reason: `x\0${'y'.repeat(600)}`, status: 'none' }
  const url = await startFake(t, { '/v3/suppression/bounces': [...bounces, odd] })
  await here.core.suppressions.addAll({ accountId: to.accountId, emails: ['b@harbor.example'], reason: 'hardbounce' })
  t.equal((await postrider(here.env, ...line(to, url, '--yes', '--only', 'suppressions'))).code, 0)
  const { json } = await ask(base, { method: 'GET', path: '/suppression/bounces', key: to.apiKey })
  const [first, second, third] = json as unknown as Record<string, unknown>[]
  t.strictSame(first, bounces[0])
  t.match(
    second,
    { email: 'b@harbor.example', reason, status: '5.1.1' },
    'of an entry that was there, the words are added',
  )
  t.strictSame(third, { created: odd.created, email: odd.email, reason: `x${'y'.repeat(499)}`, status: '' })
})

t.test('of two imports into one account at once, the second says that the first runs', async (t) => {
  const to = await here.makeSender()
  const asked = new EventEmitter()
  const url = await startFake(t, {
    '/v3/asm/groups': async (_request: unknown, response: { end(text: string): void }) => {
      asked.emit('groups')
      await once(asked, 'go')
      response.end('[]')
    },
  })
  const begun = once(asked, 'groups')
  const first = postrider(here.env, ...line(to, url, '--yes'))
  await begun
  const second = await postrider(here.env, ...line(to, url, '--yes'))
  t.equal(second.code, 1)
  t.match(second.stderr, /an import into account \d+ has been running since 20[-\dT:.]+Z.*; nothing was imported/)
  const other = await here.makeSender()
  const empty = await startFake(t, {})
  t.equal((await postrider(here.env, ...line(other, empty, '--yes'))).code, 0, 'another account is not kept waiting')
  asked.emit('go')
  t.equal((await first).code, 0)
  t.equal((await postrider(here.env, ...line(to, empty, '--yes'))).code, 0, 'afterwards the account is free')
})

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { countAll, happen } from '../core/reporting/statistics/happen.ts'
import { acceptMessage } from '../core/submission.ts'
import { makeService } from '../helpers/service.ts'
import { answered, postrider } from './postrider.ts'

type Answered = Record<string, unknown>

const service = await makeService(t)
const { env, core, config } = service
const sender = await service.makeSender()
const { accountId } = sender
const account = ['--account', String(accountId)]
const path = (name: string) => join(config.dataDir, name)
const today = new Date().toISOString().slice(0, 10)
const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

function file(name: string, content: string): string {
  writeFileSync(path(name), content)
  return path(name)
}

t.test('a template gets versions, is rendered, changed and deleted', async (t) => {
  const run = <T = Answered>(...args: string[]) => answered<T>(env, 'template', ...args, ...account)
  const welcome = file('welcome.html', '<p>Welcome, [%NAME%]</p>')
  const variables = file('variables.json', '[{"name":"NAME","required":true}]')
  const made = await run('create', '--name', 'berth', '--file', welcome, '--subject', 'Hello', '--variables', variables)
  const id = String(made.templateId)
  t.match(await run('list'), { total: 1, templates: [{ name: 'berth', version: 1, subject: 'Hello' }] })
  t.match(await run('add-version', id, '--file', file('short.html', '<p>Hi [%NAME%]</p>')), {
    number: 2,
    active: false,
  })
  t.match(await run('activate', id, '--version', '2'), { version: 2 })
  t.match(await run('versions', id), [{ number: 2, active: true }, { number: 1 }])
  t.match(await run('show', id, '--version', '1'), { content: '<p>Welcome, [%NAME%]</p>' })
  const values = file('values.json', '{"NAME":"Lena"}')
  t.match(await run('render', id, '--values', values), { subject: 'Hello', content: '<p>Hi Lena</p>', problems: [] })
  const lacking = await postrider(env, 'template', 'render', id, ...account)
  t.match(lacking, { code: 1, stdout: /^no values for NAME$/m, stderr: /NAME/ })
  t.match(await run('update', id, '--text', file('short.txt', 'Hi [%NAME%]!')), { version: 3, text: 'Hi [%NAME%]!' })
  t.match(await run('render', id, '--values', values), { text: 'Hi Lena!' })
  t.match(
    (await postrider(env, 'template', 'show', id, ...account)).stdout,
    /<p>Hi \[%NAME%\]<\/p>\n-- text --\nHi \[%NAME%\]!/,
  )
  t.match(await run('update', id, '--text', file('none.txt', '')), { version: 4, text: null })
  t.match(await run('update', id, '--name', 'greeting', '--subject', ''), {
    name: 'greeting',
    subject: null,
    version: 5,
  })
  t.match(await postrider(env, 'template', 'update', id, ...account), { code: 2, stderr: /no changes given/ })
  t.match(await run('delete', id, '--yes'), { deleted: Number(id) })
  t.match(await run('list'), { total: 0 })
})

t.test('an editable template gets versions, is copied, changed and deleted', async (t) => {
  const run = <T = Answered>(...args: string[]) => answered<T>(env, 'editable-template', ...args, ...account)
  const { id } = await run<{ id: string }>('create', '--name', 'welcome')
  const html = file('dynamic.html', '<p>Welcome, {{name}}</p>')
  const first = await run<{ id: string }>('add-version', id, '--name', 'one', '--subject', 'Hi', '--html', html)
  t.match(first, { active: true, html: '<p>Welcome, {{name}}</p>', plain: 'Welcome, {{name}}' })
  const rest = ['--name', 'two', '--subject', 'Hey', '--inactive']
  const second = await run<{ id: string }>('add-version', id, ...rest)
  t.match(second, { active: false })
  t.match(await run('activate', id, '--version', second.id), { name: 'two', active: true })
  t.match(await run('update', id, '--version', second.id, '--subject', 'Ahoy'), { subject: 'Ahoy' })
  t.match(await run('rename', id, '--name', 'hello'), { name: 'hello' })
  const copy = await run<{ id: string }>('copy', id, '--name', 'second')
  t.match(await run('list', '--generation', 'dynamic'), { total: 2 })
  t.match(await run('delete', id, '--version', first.id, '--yes'), { deleted: first.id })
  t.match(await run('show', id), { name: 'hello', versions: [{ name: 'two', subject: 'Ahoy' }] })
  for (const one of [id, copy.id]) await run('delete', one, '--yes')
  t.match(await run('list'), { total: 0 })
})

t.test('files are stored, listed and deleted', async (t) => {
  const run = (...args: string[]) => answered<Answered>(env, 'attachment', ...args, ...account)
  const { id } = await run('add', file('rules.txt', 'Rules'))
  t.match(await run('list'), { attachments: [{ id, fileName: 'rules.txt', size: 5 }] })
  await run('delete', String(id), '--yes')
  t.match(await run('list'), { total: 0 })
  t.match(await postrider(env, 'attachment', 'add', '/no/such', ...account), {
    code: 1,
    stderr: /cannot be read: ENOENT/,
  })
})

t.test('groups are created and changed, and addresses suppressed for them', async (t) => {
  const run = (name: string, ...args: string[]) => answered<Answered>(env, name, ...args, ...account)
  const { id } = await run('group', 'create', '--name', 'News', '--default', 'on')
  const group = ['--group', String(id)]
  await run('suppression', 'add', '--email', 'lena@harbor.example', ...group, '--reason', 'unsubscribe')
  t.match(await run('group', 'show', String(id)), { name: 'News', isDefault: true, unsubscribes: 1 })
  t.match(await run('suppression', 'list', ...group), [{ value: 'lena@harbor.example', reason: 'unsubscribe' }])
  t.match(await run('group', 'update', String(id), '--name', 'Offers'), { name: 'Offers' })
  await run('suppression', 'remove', '--email', 'lena@harbor.example', ...group)
  t.match(await run('group', 'list'), [{ name: 'Offers', unsubscribes: 0 }])
  t.match(await run('group', 'delete', String(id), '--yes'), { deleted: id })
  t.strictSame(await run('group', 'list'), [])
})

t.test('suppressions are imported from CSV, exported, and removed by their reason', async (t) => {
  const run = (...args: string[]) => answered<Answered>(env, 'suppression', ...args, ...account)
  const list = 'email,reason\nx@harbor.example,hardbounce\ny@harbor.example,hardbounce\nz@harbor.example,manual\n'
  t.match(await run('import', file('list.csv', list)), { rows: 3, added: 3, wrong: 0 })
  const wrong = await postrider(env, 'suppression', 'import', file('wrong.csv', 'email\nnobody\n'), ...account)
  t.match(wrong, { code: 1, stdout: /^2 +\S/m, stderr: /1 rows of .* are invalid/ })
  t.match(await run('export', '--out', path('all.csv')), { file: path('all.csv') })
  t.match(readFileSync(path('all.csv'), 'utf8'), /^email,domain,.*\r\nx@harbor\.example,,hardbounce,/)
  t.match(await run('remove', '--all', '--reason', 'hardbounce', '--yes'), { removed: 2 })
  t.match(await run('list'), [{ value: 'z@harbor.example' }])
  t.match(await postrider(env, 'suppression', 'remove', '--all', ...account), {
    code: 2,
    stderr: /--all needs --reason/,
  })
})

t.test('blocked addresses are listed and removed', async (t) => {
  const run = (...args: string[]) => answered<Answered>(env, 'failed-address', ...args, ...account)
  t.strictSame(await run('list', '--kind', 'block'), [])
  t.match(await run('remove', '--kind', 'invalid', '--all', '--yes'), { removed: 0 })
  t.match(await postrider(env, 'failed-address', 'list', ...account), { code: 2, stderr: /--kind must be/ })
})

t.test('batches are created, paused, cancelled and resumed', async (t) => {
  const run = (...args: string[]) => answered<Answered>(env, 'batch', ...args, ...account)
  const id = String((await run('create')).id)
  t.match(id, /^[\da-f]{24}$/, 'it never begins with a hyphen, as options do')
  t.match(await run('show', id), { isOpen: true, state: null })
  await run('pause', id)
  t.match(await run('list'), [{ id, state: 'pause' }])
  await run('resume', id)
  t.strictSame(await run('list'), [])
  t.match(await run('cancel', id, '--yes'), { state: 'cancel' })
})

t.test("a message's content is shown and written, and the message sent again", async (t) => {
  const { messageId } = await acceptMessage(service, sender, {
    content: { kind: 'parts', html: '<p>Berth 4</p>', text: undefined, amp: undefined },
  })
  const run = (...args: string[]) => answered<Answered>(env, 'message', ...args)
  t.match(await run('body', messageId), { html: { text: /Berth 4/ }, attachments: [] })
  await run('download', messageId, '--out', path('message.eml'))
  t.match(readFileSync(path('message.eml'), 'utf8'), /Berth 4/)
  const again = await run('resend', messageId, '--recipient-no', '0', '--idempotency-key', 'once')
  t.match(await core.messages.show(String(again.messageId)), { accountId, deliveries: [{ recipientNo: 0 }] })
  t.strictSame(await run('resend', messageId, '--recipient-no', '0', '--idempotency-key', 'once'), again)
  t.match(await postrider(env, 'message', 'body', 'a'.repeat(32)), { code: 1, stderr: /not found/ })
})

t.test('statistics are shown by period, summed by name, and bounces counted', async (t) => {
  await happen(service, accountId, { type: 'sent' }, { type: 'bounced' })
  await countAll(service)
  const run = (...args: string[]) => answered<Answered>(env, 'stats', ...args, ...account, '--from', today)
  t.match(await run('show'), { periods: [{ date: today, stats: [{ counts: { sent: 1 } }] }] })
  t.match(await run('show', '--by', 'provider'), { periods: [{ stats: [] }] })
  t.match(await run('sums', '--by', 'site'), { first: today, last: today })
  t.match(await run('bounces'), [{ date: today }])
  t.match(await answered(env, 'stats', 'tags', ...account), { tags: [], total: 0 })
  const { stdout } = await postrider(env, 'stats', 'show', ...account, '--from', today)
  t.match(stdout, /^period +delivered +bounced .*\n\S+ +1 +1 /)
  const both = await postrider(env, 'stats', 'show', ...account, '--from', today, '--by', 'tag', '--tag', 'x')
  t.match(both, { code: 2, stderr: /--by and --tag cannot be used together/ })
})

t.test('events are exported at once, and by a job of a worker', async (t) => {
  const run = (...args: string[]) => answered<Answered>(env, 'export', ...args, ...account)
  await run('events', '--from', today, '--events', 'sent', '--out', path('events.ndjson'))
  t.match(readFileSync(path('events.ndjson'), 'utf8'), /^\{.*"EVENT":"sent"/)
  const { id } = await run('create', '--from', today, '--format', 'csv')
  t.match(await run('list'), [{ id, state: 'queued', format: 'csv' }])
  const early = await postrider(env, 'export', 'download', String(id), ...account, '--out', path('early.csv'))
  t.match(early, { code: 1, stderr: /^postrider: / })
  while (await core.exports.workSome());
  t.match(await run('show', String(id)), { state: 'done', url: /^http/ })
  await run('download', String(id), '--out', path('events.csv'))
  t.match(readFileSync(path('events.csv'), 'utf8'), /\r\n.*"?sent/)
  const unwanted = await run('create', '--from', today)
  t.match(await run('delete', String(unwanted.id), '--yes'), { deleted: unwanted.id })
})

t.test('credits are shown per day, and a subaccount gets credit per period', async (t) => {
  t.match(await answered(env, 'credits', 'used', String(accountId), '--from', yesterday, '--to', today), {
    days: [{ date: yesterday }, { date: today }],
  })
  const email = ['--email', 'd3@ship.example', '--credit', 'one-time']
  await answered(env, 'subaccount', 'create', 'dock3', ...account, ...email)
  const credit = ['--amount', '500', '--every', 'month', '--from', yesterday, '--until', today]
  t.match(await answered(env, 'subaccount', 'recurring', 'dock3', ...account, ...credit), {
    recurring: { amount: 500, every: 'month' },
  })
})

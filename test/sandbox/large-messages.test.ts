import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../helpers/until.ts'
import { type Entry, mail, startSandbox } from './sandbox.ts'

const MB = 1024 * 1024
const LINE = `${'x'.repeat(78)}\r\n`

const sandbox = await startSandbox(t)
const ask = (path: string): Promise<Response> => fetch(`${sandbox.url}${path}`)
const pageOf = async ({ id }: Entry): Promise<string> => (await ask(`/view/${id}`)).text()
const linkTo = ({ id }: Entry): string =>
  `<a href="/messages/${id}/raw" download="${id}.eml">Download the raw message</a>`

t.test('the page of a message of 28 MB shows its beginning and links to all of it', async (t) => {
  const message = mail('Subject: Large', `the first line <b>\r\n${LINE.repeat((28 * MB) / 80)}the last line\r\n`)
  const entry = await sandbox.store(t, message)
  const page = await pageOf(entry)
  t.match(page, 'the first line &lt;b&gt;')
  t.notMatch(page, 'the last line')
  t.match(page, `too large or too malformed to be parsed. ${linkTo(entry)}`)
  t.ok(page.length > 256 * 1024 && page.length < 310 * 1024, `${page.length} characters`)
  const shown = await (await ask(`/messages/${entry.id}`)).json()
  t.match(shown, { ...entry, headers: [], text: null, html: null, attachments: [], links: [], codes: [] })
  const raw = await ask(`/messages/${entry.id}/raw`)
  t.equal(raw.headers.get('content-length'), String(message.length))
  t.ok(Buffer.from(await raw.arrayBuffer()).equals(Buffer.from(message)))
})

t.test('the page of a message with much text or HTML shows the beginning of it, and JSON has all', async (t) => {
  const body = `${LINE.repeat((3 * MB) / 80)}the last line\r\n`
  for (const [type, field] of [
    ['text/plain', 'text'],
    ['text/html', 'html'],
  ] as const) {
    const entry = await sandbox.store(t, mail(`Subject: Much\r\nContent-Type: ${type}`, body))
    const page = await pageOf(entry)
    t.notMatch(page, 'the last line')
    if (field === 'text')
      t.match(page, `This message is too large for a page: only its beginning is shown. ${linkTo(entry)}`)
    else t.match(page, 'The HTML is larger than 102 kB: Gmail clips it.')
    t.match(await (await ask(`/view/${entry.id}?part=header`)).text(), 'Subject: Much')
    const shown = (await (await ask(`/messages/${entry.id}`)).json()) as Record<string, string>
    t.match(shown[field], /the last line\s*$/)
  }
  t.notMatch(await pageOf(await sandbox.store(t, mail('Subject: Little'))), 'The raw message')
})

t.test('a message that takes too much to read says so on its page, and is had raw', async (t) => {
  // The parser holds an object for each line.
  const message = mail('Subject: Costly\r\nContent-Type: text/html', `${'\n'.repeat(4.9 * MB)}\r\n`)
  const entry = await sandbox.store(t, message)
  const page = await ask(`/view/${entry.id}`)
  t.equal(page.status, 200)
  const text = await page.text()
  // Which of its two limits is met first depends on the machine.
  t.match(text, /Cannot show this message: parsing takes too (much memory|long)\./)
  t.match(text, linkTo(entry))
  const shown = await (await ask(`/messages/${entry.id}`)).json()
  t.match(shown, { ...entry, headers: [], text: null, html: null, attachments: [], links: [], codes: [] })
  const html = await ask(`/messages/${entry.id}/html`)
  t.equal(html.status, 404)
  t.match(await html.json(), { error: /takes too much time or memory/ })
  t.ok(Buffer.from(await (await ask(`/messages/${entry.id}/raw`)).arrayBuffer()).equals(Buffer.from(message)))
  const next = await sandbox.store(t, mail('Subject: Next'))
  t.match(await pageOf(next), 'It works.', 'the next one is shown')
})

t.test('a subject longer than a line may be is cut', async (t) => {
  const { subject } = await sandbox.store(t, mail(`Subject: ${'long '.repeat(100_000)}`))
  t.equal(subject.length, 998)
})

t.test('a message larger than the limit is refused, and neither listed nor kept', async (t) => {
  const before = await sandbox.list()
  const client = await sandbox.session(t)
  const reply = await client.submit('desk@ship.example', 'lena@harbor.example', LINE.repeat((65 * MB) / 80))
  t.match(reply, /^552 /)
  t.strictSame(await sandbox.list(), before)
  const files = readdirSync(sandbox.folder).filter((name) => name !== 'marks.json')
  t.equal(files.length, 2 * before.length)
})

t.test('what was received of a message is removed when the connection is lost before its end', async (t) => {
  const unfinished = () => readdirSync(sandbox.folder).filter((name) => name.endsWith('.tmp'))
  const client = await sandbox.session(t)
  await client.begin('desk@ship.example', 'lena@harbor.example')
  await client.send(LINE.repeat(1000))
  await until('its beginning', () => unfinished().some((name) => statSync(join(sandbox.folder, name)).size > 0))
  const [name] = unfinished()
  t.equal(statSync(join(sandbox.folder, String(name))).mode & 0o777, 0o600)
  client.destroy()
  await until('its end', () => unfinished().length === 0)
})

t.test('a message for two is kept once for each, readable by its owner only', async (t) => {
  const client = await sandbox.session(t)
  const to = ['lena@harbor.example', 'piet@harbor.example']
  t.match(await client.submit('desk@ship.example', to, mail('Subject: Both')), /^250 /)
  const both = (await sandbox.list()).slice(-2)
  t.match(both, [
    { to: 'lena@harbor.example', subject: 'Both' },
    { to: 'piet@harbor.example', subject: 'Both' },
  ])
  for (const { id } of both) {
    t.equal(statSync(join(sandbox.folder, `${id}.eml`)).mode & 0o777, 0o600)
    t.match(await (await ask(`/messages/${id}/raw`)).text(), 'It works.')
  }
})

import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { ConnectionError } from '../../packages/client/src/index.ts'
import { Inbox, NoMessageError } from '../../packages/client/src/test/index.ts'
import { mail, startSandbox } from '../sandbox/sandbox.ts'

const sandbox = await startSandbox(t)
const inbox = new Inbox(`${sandbox.url}/`)

t.test('a message has its links, codes, header and parts, as plain data', async (t) => {
  const to = inbox.address('lena')
  const waiting = inbox.waitFor({ to, subject: 'code' })
  const parts =
    '--b\r\nContent-Type: text/html\r\n\r\n<p>Your code: 482913</p><a href="https://ship.example/a">here</a>\r\n' +
    '--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename="a.pdf"\r\n\r\n%PDF\r\n--b--\r\n'
  const fields =
    'Subject: Your code\r\nX-Order: 1\r\nX-Order: 2\r\nList-Unsubscribe: <https://ship.example/u>,\r\n <mailto:u@ship.example>\r\n'
  await sandbox.store(t, mail(`${fields}MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b`, parts), to)
  const message = await waiting
  t.match(message, {
    to,
    subject: 'Your code',
    sender: 'desk@ship.example',
    codes: ['482913'],
    links: [{ url: 'https://ship.example/a', text: 'here' }],
    text: '',
    attachments: [{ fileName: 'a.pdf' }],
    headers: { 'x-order': '1\n2', 'list-unsubscribe': '<https://ship.example/u>, <mailto:u@ship.example>' },
  })
  t.match(message.html, 'Your code')
  t.strictSame(JSON.parse(JSON.stringify(message)), message, 'a task of Cypress can return it')
})

t.test('after a message or a time, only what came later counts', async (t) => {
  const to = inbox.address()
  const before = new Date()
  const ids = [(await sandbox.store(t, mail('Subject: A'), to)).id, (await sandbox.store(t, mail('Subject: B'), to)).id]
  const first = await inbox.waitFor({ to, after: before })
  const second = await inbox.waitFor({ to, after: first })
  t.strictSame([first.id, second.id], ids)
  t.match(await inbox.waitFor({ to }), { id: ids[1] }, 'without it, the newest')
})

t.test('the error of a wait in vain has its options, and the messages that came instead', async (t) => {
  await inbox.clear()
  t.strictSame(await inbox.list(), [])
  const ask = () => inbox.waitFor({ to: 'lena@harbor.example', subject: 'your code', timeout: 0 })
  const alone = 'no message with to "lena@harbor.example", subject "your code" came within 0 ms'
  await t.rejects(ask(), new NoMessageError(`${alone}, and none else`, []))
  await sandbox.store(t, mail('Subject: Please verify'), 'piet@harbor.example')
  const error = await ask().catch((thrown) => thrown)
  t.ok(error instanceof NoMessageError)
  t.ok(error.message.startsWith(`${alone}; one other is there:\n`))
  t.match(error.message, /\n {2}\d{4}-\S+Z {2}to piet@harbor\.example: "Please verify"$/)
  t.match(error.newest, [{ to: 'piet@harbor.example', subject: 'Please verify' }])
})

t.test('addresses of tests differ', (t) => {
  t.match(inbox.address('lena'), /^lena\.[0-9a-f]{12}@example\.com$/)
  t.not(inbox.address(), inbox.address())
  t.end()
})

t.test('a wait that would match any message cannot be made', async (t) => {
  t.throws(() => new Inbox('127.0.0.1'), { name: 'TypeError', message: /URL of the inbox/ })
  const ask = (wanted: object) => inbox.waitFor(wanted)
  await t.rejects(ask({ recipient: 'x@harbor.example' }), new TypeError('waitFor has no option recipient'))
  await t.rejects(ask({ to: undefined }), new TypeError('to of waitFor must not be undefined'))
  await t.rejects(ask({ subject: '' }), new TypeError('subject of waitFor must not be empty'))
  await t.rejects(ask({ to: 'harbor.example' }), /refused the call \(400\): to: must be one whole address/)
})

t.test('a wait ends with its signal, and without an inbox', async (t) => {
  const stop = new AbortController()
  const waiting = inbox.waitFor({ to: inbox.address(), timeout: 60_000, signal: stop.signal })
  stop.abort(new Error('enough'))
  await t.rejects(waiting, new Error('enough'))
  await t.rejects(new Inbox('http://127.0.0.1:1').waitFor(), ConnectionError)
})

t.test('where too many calls wait, it tries again; another server than the inbox is an error', async (t) => {
  const busy: RequestListener = (_request, response) =>
    response.writeHead(503, { 'retry-after': '0' }).end('{"error":"busy"}')
  const full: RequestListener = (_request, response) =>
    response.end('{"id":"1","to":"a@b.example","headers":[],"text":null,"html":"<p>"}')
  const foreign: RequestListener = (_request, response) => response.writeHead(404).end('<html>')
  const answers = [busy, busy, full, foreign]
  const other = await open(t, (...call) => answers.shift()?.(...call))
  t.match(await other.waitFor(), { id: '1', text: '', html: '<p>' })
  await t.rejects(other.waitFor(), /\(404\): the response is not one of the inbox; check its URL/)
  t.strictSame(answers, [])
})

async function open(t: Test, listener: RequestListener): Promise<Inbox> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return new Inbox(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

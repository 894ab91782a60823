import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { ConnectionError, Postrider, RateLimitError, ServiceError } from '../../packages/client/src/index.ts'

const MAIL = { from: 'desk@ship.example', to: 'lena@harbor.example', subject: 'Berth 4', html: '<p>Ready.</p>' }

/** A server that answers the first calls with these, and others with success. */
async function open(t: Test, first: readonly RequestListener[], options: object = {}) {
  const calls: IncomingMessage[] = []
  const server = createServer((request, response) => {
    calls.push(request)
    const act = first[calls.length - 1]
    if (act) return act(request, response)
    response.setHeader('content-type', 'application/json')
    response.end('{"data":{"message_id":"1"},"message":"Success","error_info":null}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { calls, baseUrl, postrider: new Postrider({ baseUrl, apiKey: 'secret', ...options }) }
}

const refusal =
  (status: number, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, headers).end('{"error_info":{"error_message":"Not now","error_code":150},"message":"x"}')
  }
const hangUp: RequestListener = (request) => request.socket.destroy()

t.test('a file that has begun to arrive takes as long as it takes', async (t) => {
  let signal: AbortSignal | null | undefined
  const fetch = async (_url: unknown, init?: RequestInit) => {
    signal = init?.signal
    return new Response(new ReadableStream())
  }
  const { postrider } = await open(t, [], { fetch, timeout: 20 })
  t.ok((await postrider.suppressions.export()) instanceof ReadableStream)
  // Timers end in their order.
  await new Promise((resolve) => setTimeout(resolve, 40))
  t.equal(signal?.aborted, false)
})

t.test('what a mail does not have is refused by name, before any call', async (t) => {
  const { calls, postrider } = await open(t, [])
  const send = (mail: object) => postrider.messages.send(mail as typeof MAIL)
  await t.rejects(send({ ...MAIL, shedule: '2026-12-24' }), { name: 'TypeError', message: /^shedule is not a member/ })
  await t.rejects(send({ ...MAIL, to: [{ to: 'a@b.example', atributes: {} }] }), {
    message: /^to\[0\]\.atributes is not/,
  })
  await t.rejects(send({ ...MAIL, react: {} }), { name: 'TypeError', message: /^react needs the option render/ })
  t.equal(calls.length, 0)
})

t.test('an address or a key that cannot be one is refused by its name', async (t) => {
  for (const baseUrl of [undefined, '', 'mail.ship.example', 'ftp://mail.ship.example'] as string[])
    t.throws(() => new Postrider({ baseUrl, apiKey: 'secret' }), { name: 'TypeError', message: /^baseUrl / }, baseUrl)
  t.throws(() => new Postrider({ baseUrl: 'https://mail.ship.example', apiKey: 'a b' }), { message: /^apiKey / })
})

t.test('a call that was not carried out is tried again after the time that the response names', async (t) => {
  const { calls, postrider } = await open(t, [refusal(429, { 'retry-after': '0' }), refusal(503)])
  t.strictSame(await postrider.messages.send(MAIL), { messageId: '1' })
  t.equal(calls.length, 3)
  t.equal(new Set(calls.map(({ headers }) => headers['idempotency-key'])).size, 1, 'it is the same call')
})

t.test('without success it is the last response that is thrown', async (t) => {
  const { calls, postrider } = await open(
    t,
    [503, 503, 429].map((status) => refusal(status, { 'retry-after': '0' })),
  )
  const error = await postrider.messages.send(MAIL).catch((thrown) => thrown)
  t.ok(error instanceof RateLimitError)
  t.match(error, { message: 'Not now', code: 150, retryAfter: 0 })
  t.equal(calls.length, 3)
})

t.test('a response that asks to wait longer than a minute ends the call', async (t) => {
  const { calls, postrider } = await open(t, [refusal(429, { 'retry-after': '3600' })])
  t.match(await postrider.messages.send(MAIL).catch((thrown) => thrown), { retryAfter: 3600 })
  t.equal(calls.length, 1)
})

t.test('what may have had an effect is repeated only if a repetition has none', async (t) => {
  const sent = await open(t, [hangUp, refusal(504)])
  t.strictSame(await sent.postrider.messages.send(MAIL), { messageId: '1' })
  t.equal(sent.calls.length, 3, 'it has an idempotency key')
  const made = await open(t, [hangUp])
  await t.rejects(made.postrider.keys.create({ name: 'one' }), ConnectionError)
  t.equal(made.calls.length, 1)
  const unknown = await open(t, [refusal(504)])
  await t.rejects(unknown.postrider.keys.create({ name: 'one' }), ServiceError)
  t.equal(unknown.calls.length, 1)
})

t.test('the key reaches no other host', async (t) => {
  const other = await open(t, [])
  const { postrider } = await open(t, [
    (_request, response) => response.writeHead(307, { location: `${other.baseUrl}/v2/sendEmail` }).end(),
  ])
  t.match(await postrider.messages.send(MAIL).catch((thrown) => thrown), { name: 'PostriderError', status: 307 })
  t.equal(other.calls.length, 0)
})

t.test('a call ends when its caller ends it, or when no response comes', async (t) => {
  const { calls, postrider } = await open(t, [() => {}, () => {}], { retries: 0, timeout: 200 })
  const error = await postrider.messages.send(MAIL).catch((thrown) => thrown)
  t.ok(error instanceof ConnectionError)
  t.match(error.message, 'did not respond in time')
  const ending = new AbortController()
  const call = postrider.messages.send(MAIL, { signal: ending.signal, timeout: 100_000 })
  ending.abort(new Error('enough'))
  await t.rejects(call, { message: 'enough' })
  t.ok(calls.length <= 2)
})

t.test('an address or a key that cannot be one is refused before any call', async (t) => {
  for (const baseUrl of ['mail.ship.example', 'ftp://mail.ship.example', ''])
    t.throws(() => new Postrider({ baseUrl, apiKey: 'secret' }), TypeError)
  for (const apiKey of ['', 'a b', 'a\nb', undefined as unknown as string])
    t.throws(() => new Postrider({ baseUrl: 'https://mail.ship.example', apiKey }), TypeError)
})

t.test('a value of a path stays in its place', async (t) => {
  const { calls, postrider } = await open(t, [])
  for (const messageId of ['', '.', '..'])
    await t.rejects(postrider.messages.resend({ messageId }), { name: 'TypeError', message: /^messageId must not be/ })
  for (const messageId of ['../a', '%2e%2e', 'a?b#c', '\ud800']) await postrider.messages.resend({ messageId })
  t.strictSame(
    calls.map(({ url }) => url),
    ['..%2Fa', '%252e%252e', 'a%3Fb%23c', '%EF%BF%BD'].map((one) => `/v2/messages/${one}/resend`),
  )
})

t.test('the page of a proxy is an error with its status', async (t) => {
  const { postrider } = await open(t, [
    (_request, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>nginx</h1>'),
    (_request, response) => response.writeHead(200).end('<h1>hello</h1>'),
  ])
  t.match(await postrider.domains.list().catch((thrown) => thrown), { name: 'NotFoundError', status: 404, code: 0 })
  t.match(await postrider.domains.list().catch((thrown) => thrown), { name: 'PostriderError', status: 200, code: 0 })
})

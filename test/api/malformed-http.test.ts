import t from 'tap'
import { startProcess } from '../helpers/processes.ts'
import { v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { call } from './call.ts'
import { openRaw, sayAndWait } from './raw.ts'

const service = await makeService(t, { LOG_LEVEL: 'trace' })
const sender = await service.makeSender()
const api = await startProcess(t, 'api', service.env)
const base = `http://127.0.0.1:${service.config.apiPort}`
const json = JSON.stringify(v2Body(sender))
const line = 'POST /v2/sendEmail HTTP/1.1\r\n'
const fields = `Host: a\r\napi_key: ${sender.apiKey}\r\n`
const good = `${line}${fields}Content-Length: ${json.length}\r\n\r\n${json}`
/** The good call with other fields before its body. */
const withFields = (more: string, body = json) => `${line}${fields}${more}\r\n\r\n${body}`
const hex = json.length.toString(16)
const CHUNKED = 'Transfer-Encoding: chunked'
const chunks = `${hex}\r\n${json}\r\n0\r\n\r\n`
/** Would be a second call if the end of the first one was somewhere else. */
const smuggled = `0\r\n\r\n${good}`
const stored = async () => (await service.sql`select count(*)::int as count from messages`)[0]?.count

/** V41: two readers could take each to end somewhere else, or to mean something else. */
const AMBIGUOUS: readonly (readonly [what: string, octets: string])[] = [
  ['a length and chunks', withFields(`Content-Length: 5\r\n${CHUNKED}`, smuggled)],
  ['chunks and a length', withFields(`${CHUNKED}\r\nContent-Length: 5`, smuggled)],
  ['two lengths', withFields(`Content-Length: ${json.length}\r\nContent-Length: 5`)],
  ['the same length twice', withFields(`Content-Length: ${json.length}\r\nContent-Length: ${json.length}`)],
  ['a list of lengths', withFields(`Content-Length: ${json.length}, ${json.length}`)],
  ['a negative length', withFields('Content-Length: -5')],
  ['a length with a plus', withFields(`Content-Length: +${json.length}`)],
  ['a hexadecimal length', withFields(`Content-Length: 0x${hex}`)],
  ['a length beyond 64 bits', withFields('Content-Length: 99999999999999999999999')],
  ['chunks twice', withFields(`${CHUNKED}\r\n${CHUNKED}`, chunks)],
  ['chunks that are not the last coding', withFields('Transfer-Encoding: chunked, identity', chunks)],
  ['an unknown coding', withFields('Transfer-Encoding: xchunked', chunks)],
  ['a coding behind a vertical tab', withFields('Transfer-Encoding: \x0bchunked', chunks)],
  ['a coding in two lines', withFields('Transfer-Encoding:\r\n chunked', chunks)],
  ['a blank before the colon', withFields('Transfer-Encoding : chunked', chunks)],
  ['a folded field', withFields(`X-A: b\r\n c\r\nContent-Length: ${json.length}`)],
  ['bare LF everywhere', good.replaceAll('\r\n', '\n')],
  ['bare LF once', good.replace('Host: a\r\n', 'Host: a\n')],
  ['bare CR', good.replace('Host: a\r\n', 'Host: a\rX-A: b\r\n')],
  ['NUL in a field', good.replace('Host: a', 'Host: a\0')],
  ['no colon in a field', good.replace('Host: a', 'Host a')],
  ['a chunk of negative length', withFields(CHUNKED, `-1\r\n${json}\r\n0\r\n\r\n`)],
  ['a chunk length with 0x', withFields(CHUNKED, `0x${hex}\r\n${json}\r\n0\r\n\r\n`)],
  ['a chunk length beyond 64 bits', withFields(CHUNKED, `1${'0'.repeat(16)}${hex}\r\n${json}\r\n0\r\n\r\n`)],
  ['a chunk longer than it says', withFields(CHUNKED, `3\r\n${json}\r\n0\r\n\r\n`)],
  ['chunks ended by bare LF', withFields(CHUNKED, chunks.replaceAll('\r\n', '\n'))],
  ['a chunk extension of 20 kB', withFields(CHUNKED, `${hex};a=${'b'.repeat(20_000)}\r\n${json}\r\n0\r\n\r\n`)],
  ['a blank in the path', good.replace('/v2/sendEmail', '/v2/send Email')],
  ['octets beyond ASCII in the path', good.replace('sendEmail', 'sendEm\u00e4il')],
  ['a tab behind the method', good.replace('POST ', 'POST\t')],
  ['a method in small letters', good.replace('POST', 'post')],
  ['a method nobody knows', good.replace('POST', 'STEAL')],
  ['another version of HTTP', good.replace('HTTP/1.1', 'HTTP/1.2')],
]

/** RFC 9112 3.2. The path is known then, so the answer has its group. */
const HOSTS: readonly (readonly [what: string, octets: string])[] = [
  ['no host', good.replace('Host: a\r\n', '')],
  ['two hosts', withFields(`Host: b\r\nContent-Length: ${json.length}`)],
  ['the same host twice', withFields(`hOST: a\r\nContent-Length: ${json.length}`)],
  ['a host with a path', good.replace('Host: a', 'Host: a/v3')],
  ['a host with a user', good.replace('Host: a', 'Host: root@a')],
  ['two hosts in one field', good.replace('Host: a', 'Host: a, b')],
  ['a host with a blank', good.replace('Host: a', 'Host: a b')],
  ['a port that is no number', good.replace('Host: a', 'Host: a:http')],
]

/** What other protocols say first, and nonsense. */
const OTHER: readonly (readonly [what: string, octets: string | Buffer])[] = [
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['TLS', Buffer.from('16030100c6010000c20303', 'hex')],
  ['SMTP', 'EHLO ship.example\r\nMAIL FROM:<a@ship.example>\r\n'],
  ['PROXY', `PROXY TCP4 192.0.2.7 127.0.0.1 1 2\r\n${good}`],
  ['NULs', Buffer.alloc(1000)],
  ['a hundred thousand letters', 'x'.repeat(100_000)],
]

for (const [what, octets] of [...AMBIGUOUS, ...HOSTS, ...OTHER]) {
  t.test(`${what}: gets 400 once, the connection closed, and nothing stored`, async (t) => {
    const before = await stored()
    const { statuses, text } = await sayAndWait(t, base, octets)
    t.strictSame(statuses, [400])
    const [head = '', body = ''] = text.split('\r\n\r\n')
    t.match(head, /^connection: close$/im)
    t.strictSame(JSON.parse(body), {
      error_info: { error_message: 'Malformed HTTP request', error_code: 400 },
      message: HOSTS.some(([host]) => host === what) ? 'Error in SendEmail api call' : 'Error in api call',
    })
    t.equal(await stored(), before)
  })
}

/** Allowed by RFC 9112, though rare. */
const RARE: readonly (readonly [what: string, octets: string])[] = [
  ['blank lines before the call', `\r\n\r\n${good}`],
  ['a chunk extension', withFields(CHUNKED, `${hex};a="b"\r\n${json}\r\n0\r\n\r\n`)],
  ['zeros before a chunk’s length', withFields(CHUNKED, `000${hex}\r\n${json}\r\n0\r\n\r\n`)],
  ['a trailer', withFields(CHUNKED, `${hex}\r\n${json}\r\n0\r\nX-Trailer: a\r\n\r\n`)],
  ['a chunk for each octet', withFields(CHUNKED, `${[...json].map((octet) => `1\r\n${octet}\r\n`).join('')}0\r\n\r\n`)],
  ['a host with a port', good.replace('Host: a', 'Host: ship.example:8080')],
  ['an address of IPv6 with a port', good.replace('Host: a', 'Host: [2001:db8::1]:8080')],
  ['an empty host', good.replace('Host: a', 'Host:')],
  ['an absolute path', good.replace('POST ', 'POST http://ship.example')],
  ['a wish for another protocol', good.replace('Host: a', 'Host: a\r\nConnection: upgrade\r\nUpgrade: h2c')],
]
for (const [what, octets] of RARE) {
  t.test(`${what}: the call is taken`, async (t) => {
    const connection = await openRaw(t, base)
    await connection.send(octets)
    await until('the answer', () => connection.statuses.length > 0)
    t.strictSame(connection.statuses, [200])
  })
}

t.test('a client that asks first is told to continue', async (t) => {
  const connection = await openRaw(t, base)
  await connection.send(good.slice(0, -json.length).replace('Host: a', 'Host: a\r\nExpect: 100-continue'))
  await until('the first answer', () => connection.statuses.length === 1)
  await connection.send(json)
  await until('the second answer', () => connection.statuses.length === 2)
  t.strictSame(connection.statuses, [100, 200])
})

t.test('pipelined calls are answered in order, each by its own header', async (t) => {
  const before = await stored()
  const connection = await openRaw(t, base)
  const keyless = good.replace(`api_key: ${sender.apiKey}\r\n`, '')
  await connection.send(`${good}${keyless}${good.replace('sendEmail', 'nothing')}${good}`)
  await until('four answers', () => connection.statuses.length === 4)
  t.strictSame(connection.statuses, [200, 401, 404, 200])
  t.equal(await stored(), before + 2)
})

t.test('a call that came whole before junk gets its own answer, and the junk its 400 behind it', async (t) => {
  const before = await stored()
  for (const [what, junk] of [...AMBIGUOUS, ...OTHER]) {
    const { statuses } = await sayAndWait(t, base, Buffer.concat([Buffer.from(good + good), Buffer.from(junk)]))
    t.strictSame(statuses, [200, 200, 400], what)
  }
  t.equal(await stored(), before + 2 * (AMBIGUOUS.length + OTHER.length))
})

t.test('a client that goes away in the middle of anything leaves nothing behind', async (t) => {
  const before = await stored()
  for (const end of [1, 20, line.length, good.length - json.length - 1, good.length - json.length, good.length - 1]) {
    const connection = await openRaw(t, base)
    await connection.send(good.slice(0, end))
    if (end % 2) connection.socket.resetAndDestroy()
    else connection.socket.destroy()
  }
  t.equal((await call(base, { headers: { api_key: sender.apiKey }, body: json })).status, 200)
  t.equal(await stored(), before + 1)
})

t.test('after all this the process lives, and has logged no fault and nothing of what was said', async (t) => {
  t.equal((await call(base, { path: '/health/ready', method: 'GET' })).status, 200)
  t.strictSame(
    api.log.filter(({ level }) => Number(level) >= 40),
    [],
  )
  const logged = JSON.stringify(api.log)
  t.notOk(logged.includes(sender.apiKey))
  t.notMatch(logged, /harbor\.example|Berth 4/)
  t.equal(await api.stop(), 0)
})

t.test(
  'with https in PUBLIC_URL, browsers are told to use it for its host, and for no host of a customer',
  async (t) => {
    const secure = await makeService(t, { PUBLIC_URL: 'https://mail.example.com' })
    const url = await secure.openApi()
    const told = async (at: string, host: string) =>
      (await call(at, { method: 'GET', path: '/health', headers: { host } })).headers
    t.equal((await told(url, 'mail.example.com'))['strict-transport-security'], 'max-age=63072000')
    t.notOk((await told(url, 'click.northwind.example'))['strict-transport-security'])
    t.notOk((await told(await (await makeService(t)).openApi(), 'mail.example.com'))['strict-transport-security'])
  },
)

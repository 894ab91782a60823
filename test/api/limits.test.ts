import { buildApp } from '@postrider/api'
import { createLog } from '@postrider/core'
import t, { type Test } from 'tap'
import { v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { type CallAnswer, call, FORM, messageIdOf, refused } from './call.ts'
import { openRaw, type RawConnection, sayAndWait } from './raw.ts'

// The smallest budget there is: a body takes three times its size of it.
const service = await makeService(t, { BODY_BUDGET_MB: '32' })
const base = await service.openApi()
const sender = await service.makeSender()
const SIZE = 30 * 1024 * 1024
const FILE_SIZE = 20_480_000
const json = JSON.stringify(v2Body(sender))

const send = (body: string | Record<string, unknown>, headers: Record<string, string> = {}) =>
  call(base, { headers: { api_key: sender.apiKey, ...headers }, body })
const stored = async () => (await service.sql`select count(*)::int as count from messages`)[0]?.count
const CHUNKED = { 'transfer-encoding': 'chunked' }
const TOO_LARGE = [413, 121, 'Payload must not exceed 30 MB'] as const
const BUSY = [503, 503, 'Service temporarily overloaded, try again later'] as const

function busy(t: Test, answer: CallAnswer): void {
  refused(t, answer, BUSY)
  t.equal(answer.headers['retry-after'], '1')
}

t.test('a body of 30 MB is taken, with or without a length; one octet more is refused with 121', async (t) => {
  const file = { fileName: 'full.bin', fileContent: Buffer.alloc(FILE_SIZE, 7).toString('base64') }
  const full = JSON.stringify(v2Body(sender, { attachments: [file] })).padEnd(SIZE, ' ')
  for (const headers of [{}, CHUNKED]) {
    const before = await stored()
    refused(t, await send(`${full} `, headers), TOO_LARGE)
    t.equal(await stored(), before)
    const id = messageIdOf(await send(full, headers))
    t.ok(((await service.core.messages.show(id))?.size ?? 0) > FILE_SIZE)
  }
})

t.test('a body that says it is larger is refused before it comes, in every type', async (t) => {
  for (const type of [
    'application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=B',
    'a/b',
  ]) {
    for (const length of [SIZE + 1, 10 ** 12]) {
      const connection = await openRaw(t, base)
      await connection.send(
        `POST /v2/sendEmail HTTP/1.1\r\nHost: a\r\napi_key: ${sender.apiKey}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n{`,
      )
      await until('the refusal', () => connection.statuses.length > 0)
      t.strictSame(connection.statuses, [413], type)
      connection.socket.destroy()
    }
  }
})

t.test('a file of 20,480,000 octets is taken; one more is refused and named', async (t) => {
  const withFile = (size: number, place: 'all' | 'one') => {
    const attachments = [{ fileName: 'a', fileContent: Buffer.alloc(size).toString('base64') }]
    const one = { personalizations: [{ recipient: 'lena@harbor.example', attachments }] }
    return v2Body(sender, place === 'all' ? { attachments } : one)
  }
  const refusal = (name: string) =>
    [400, 113, `Parameter [${name}] is invalid: must have at most ${FILE_SIZE} bytes`] as const
  refused(t, await send(withFile(FILE_SIZE + 1, 'all')), refusal('attachments[0].fileContent'))
  refused(t, await send(withFile(FILE_SIZE + 1, 'one')), refusal('personalizations[0].attachments[0].fileContent'))
  t.equal((await send(withFile(FILE_SIZE, 'one'))).status, 200)
})

const head = (fields: string, key = sender.apiKey) =>
  `POST /v2/sendEmail HTTP/1.1\r\nHost: a\r\napi_key: ${key}\r\n${fields}\r\n\r\n`
/** Bodies that come in part and then wait; each holds the whole budget. */
const HOLDERS: readonly (readonly [what: string, start: string, end: string])[] = [
  ['of a length', `${head(`Content-Length: ${SIZE}`)}{`, `${json.slice(1)}${' '.repeat(SIZE - json.length)}`],
  [
    'in chunks',
    `${head('Transfer-Encoding: chunked')}${(12_000_000).toString(16)}\r\n${json}${' '.repeat(12_000_000 - json.length)}\r\n`,
    '0\r\n\r\n',
  ],
]
/**
 * Opens a client whose body takes all the room, and waits until it has it. If it comes while one of the calls that look whether
 * there is room has some, it is refused, and another one takes its place.
 */
async function takeAllRoom(t: Test, start: string): Promise<RawConnection> {
  let holder = await openRaw(t, base)
  await holder.send(start)
  await until('no room', async () => {
    if ((await send(json)).status === 503) return true
    if (holder.statuses.length === 0) return false
    holder = await openRaw(t, base)
    await holder.send(start)
    return false
  })
  return holder
}
for (const [what, start, end] of HOLDERS) {
  t.test(
    `while a body ${what} takes all the room, others are refused with 503 and told when to come again`,
    async (t) => {
      const before = await stored()
      const holder = await takeAllRoom(t, start)
      const afterHeld = await stored()
      busy(t, await send(json))
      busy(t, await send(json, CHUNKED))
      busy(t, await send('a=b', FORM))
      t.equal((await call(base, { method: 'GET', path: '/health/ready' })).status, 200, 'health needs no room')
      t.equal((await call(base, { headers: { api_key: 'nope' }, body: json })).status, 401)
      await holder.send(end)
      await until('the answer', () => holder.statuses.length > 0)
      t.strictSame(holder.statuses, [200], 'the one that had the room is taken')
      t.equal((await send(json)).status, 200, 'and then there is room again')
      t.equal(await stored(), afterHeld + 2, 'what was refused is not stored')
      t.ok(afterHeld >= before)
    },
  )

  t.test(`a client that goes away in the middle of a body ${what} gives its room back`, async (t) => {
    const holder = await takeAllRoom(t, start)
    holder.socket.destroy()
    await until('room', async () => (await send(json)).status === 200)
  })
}

t.test('calls without a key, or to an unknown path, take no capacity', async (t) => {
  for (const start of [
    head(`Content-Length: ${SIZE}`, ''),
    head(`Content-Length: ${SIZE}`, 'nope'),
    head(`Content-Length: ${SIZE}`).replace('sendEmail', 'nothing'),
    head(`Content-Length: ${SIZE}`).replace('POST', 'PUT'),
  ]) {
    const connection = await openRaw(t, base)
    await connection.send(`${start}{`)
    await until('the refusal', () => connection.statuses.length > 0)
    t.equal((await send(json)).status, 200)
    connection.socket.destroy()
  }
})

t.test(
  'a crowd of large bodies is taken in part, refused in part, stored exactly as answered, and leaves no room taken',
  async (t) => {
    const before = await stored()
    const large = json.padEnd(3_000_000, ' ')
    const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => send(large, at % 2 ? CHUNKED : {})))
    const taken = answers.filter(({ status }) => status === 200).length
    t.strictSame([...new Set(answers.map(({ status }) => status))].sort(), [200, 503])
    for (const answer of answers.filter(({ status }) => status === 503)) busy(t, answer)
    t.equal(await stored(), before + taken)
    t.equal((await send(json.padEnd(SIZE, ' '))).status, 200, 'the whole budget is there')
  },
)

t.test('a URL or a header of up to 16 KiB is taken, a larger one refused with 431', async (t) => {
  const get = (path: string, headers = {}) =>
    call(base, { path, headers: { api_key: sender.apiKey, ...headers }, body: json })
  t.equal((await get(`/v2/sendEmail?${'a'.repeat(12_000)}`)).status, 200)
  t.equal((await get(`/v2/${'a'.repeat(12_000)}`)).status, 404)
  t.equal((await get('/v2/sendEmail', { cookie: 'a'.repeat(12_000) })).status, 200)
  const LARGE = [
    `GET /v2/${'a'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    head(`Cookie: ${'a'.repeat(17_000)}`),
    head('a:b\r\n'.repeat(4000)),
    head(`${'a'.repeat(17_000)}: b`),
    head('a:b\r\n'.repeat(500_000)),
  ]
  for (const octets of LARGE) {
    const { statuses, text } = await sayAndWait(t, base, octets)
    t.strictSame(statuses, [431])
    t.match(
      text,
      '{"error_info":{"error_message":"Request header is too large","error_code":431},"message":"Error in api call"}',
    )
  }
})

t.test('five hundred connections at once are served, and idle ones delay no others', async (t) => {
  const idle = await Promise.all(Array.from({ length: 250 }, () => openRaw(t, base)))
  const half = await Promise.all(
    Array.from({ length: 250 }, async () => {
      const connection = await openRaw(t, base)
      await connection.send(`${head(`Content-Length: ${json.length}`)}${json.slice(0, 10)}`)
      return connection
    }),
  )
  t.equal((await send(json)).status, 200)
  await Promise.all(half.map((connection) => connection.send(json.slice(10))))
  await until('every answer', () => half.every(({ statuses }) => statuses.length === 1), 30_000)
  t.ok(half.every(({ statuses }) => statuses[0] === 200))
  t.ok(idle.every(({ closed }) => !closed))
})

t.test('a client that drips its header or its body is cut off with 408, and nothing of it is stored', async (t) => {
  const own = await makeService(t)
  const app = await buildApp({ core: own.core, config: own.config, log: createLog('test', 'silent') })
  t.teardown(() => app.close())
  t.ok(app.server.headersTimeout <= 10_000, 'V41: ten seconds for the header')
  t.ok(app.server.requestTimeout <= 60_000, 'V41: a minute for the whole call')
  // A test does not wait a minute; the server asks these at each round.
  app.server.headersTimeout = 1000
  app.server.requestTimeout = 2000
  const url = await app.listen({ host: '127.0.0.1', port: own.config.apiPort })
  const { apiKey } = await own.makeSender()
  const good = `${head(`Content-Length: ${json.length}`, apiKey)}${json}`
  const drippers = await Promise.all(
    [0, good.length - json.length].map(async (start) => {
      const connection = await openRaw(t, url)
      await connection.send(good.slice(0, start))
      let at = start
      const drip = setInterval(() => connection.socket.write(good.slice(at, ++at)), 100)
      connection.socket.once('close', () => clearInterval(drip))
      return connection
    }),
  )
  await until('the end of both', () => drippers.every(({ closed }) => closed), 30_000)
  for (const { text, statuses } of drippers) {
    t.strictSame(statuses, [408])
    t.match(text, '"error_message":"Timed out waiting for the request","error_code":408')
  }
  t.equal((await own.sql`select 1 from messages`).length, 0)
})

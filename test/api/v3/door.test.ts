import { METHODS } from 'node:http'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { stopClock } from '../../helpers/database.ts'
import { makeService } from '../../helpers/service.ts'
import { type CallAnswer, call, JSON_TYPE } from '../call.ts'
import { sayAndWait } from '../raw.ts'
import { ask, complaintsOf, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'

const service = await makeService(t, { CALLS_PER_MINUTE: '600' })
const base = await service.openApi()
const sender = await service.makeSender()
const key = sender.apiKey
const SCOPES = { method: 'GET', path: '/scopes', key } as const
const MAIL = { path: '/mail/send', key } as const

const scopesOf = ({ json }: CallAnswer) => json?.scopes as string[]

t.test('a valid Bearer key is accepted; a missing or unknown key gets 401', async (t) => {
  proves(t, 'bearer', 'key-prefix', 'operation.listScopes', 'operation.sendMail')
  const answer = await ask(base, SCOPES)
  t.equal(answer.status, 200)
  t.ok(scopesOf(answer).includes('mail.send'))
  t.equal((await ask(base, { ...SCOPES, headers: { authorization: `bearer  ${key}` } })).status, 200, 'in any case')
  for (const authorization of [undefined, 'Bearer nope', 'Bearer', key, `Bearer SG.${key}`]) {
    const headers = authorization === undefined ? {} : { authorization }
    refusedV3(t, await ask(base, { method: 'GET', path: '/scopes', headers }), [401, 'authorization required'])
  }
  const { key: _key, ...nobody } = MAIL
  refusedV3(t, await ask(base, nobody), [401, 'Permission denied, wrong credentials'], 'P21')
  refusedV3(
    t,
    await ask(base, { ...MAIL, key: 'nope' }),
    [401, 'The provided authorization grant is invalid, expired, or revoked'],
    'P22',
  )
})

t.test('HTTP Basic is rejected', async (t) => {
  proves(t, 'basic')
  const authorization = `Basic ${Buffer.from(`apikey:${key}`).toString('base64')}`
  refusedV3(t, await ask(base, { path: '/mail/send', headers: { authorization } }), [
    401,
    'Permission denied, wrong credentials',
  ])
})

t.test('a key without the scope is refused with 403, and one bound to other networks too', async (t) => {
  const { secret } = await service.core.auth.createKey({ accountId: sender.accountId, scopes: ['templates'] })
  refusedV3(t, await ask(base, { ...MAIL, key: secret }), [403, 'Authenticated user is not authorized to send mail'])
  t.notOk(scopesOf(await ask(base, { ...SCOPES, key: secret })).includes('mail.send'))
  const elsewhere = await service.core.auth.createKey({ accountId: sender.accountId, networks: ['192.0.2.0/24'] })
  refusedV3(t, await ask(base, { ...SCOPES, key: elsewhere.secret }), [403, /^Calls from this IP address/])
})

t.test('on-behalf-of acts for a subaccount, and for no other account', async (t) => {
  proves(t, 'on-behalf-of')
  const child = await service.makeSender()
  await service.sql`update accounts set parent_id = ${sender.accountId}, username = 'wharf' where id = ${child.accountId}`
  t.equal((await ask(base, { ...SCOPES, headers: { 'on-behalf-of': 'wharf' } })).status, 200)
  for (const name of ['nobody', 'account-id 12']) {
    const answer = await ask(base, { ...SCOPES, headers: { 'on-behalf-of': name } })
    refusedV3(t, answer, [403, 'access forbidden'], name)
  }
})

t.test('any other method is refused with 405 and told which are allowed, with any body or key', async (t) => {
  for (const method of METHODS.filter((one) => !['POST', 'CONNECT', 'OPTIONS'].includes(one))) {
    const answer = await ask(base, {
      path: '/mail/send',
      method,
      headers: { 'content-type': 'text/xml' },
      body: '<x/>',
    })
    t.equal(answer.headers.allow, 'POST', method)
    if (method === 'HEAD') t.equal(answer.status, 405)
    else refusedV3(t, answer, [405, 'POST method allowed only'], method)
  }
  const answer = await ask(base, { ...SCOPES, method: 'POST' })
  refusedV3(t, answer, [405, 'method not allowed'])
  t.equal(answer.headers.allow, 'GET, HEAD')
})

t.test('an unknown path gets 404 in JSON, with any method, body or key', async (t) => {
  proves(t, 'unknown-path')
  for (const path of ['/nothing', '', '/mail/send/1', '/mail', '/%zz', '/%00', '/scopes/x/y']) {
    for (const options of [{ method: 'GET' }, { body: '{' }, { method: 'PROPFIND' }, { method: 'DELETE', key }]) {
      refusedV3(t, await ask(base, { path, ...options }), [404, 'resource not found'], path)
    }
  }
})

t.test('a body must have a JSON content type, with any charset', async (t) => {
  proves(t, 'charset')
  const body = '{"from":'
  for (const type of ['text/plain', 'application/jsonp', 'application/x-www-form-urlencoded', 'application/xml', 'x']) {
    const answer = await ask(base, { ...MAIL, body, headers: { 'content-type': type } })
    refusedV3(t, answer, [415, 'Content-Type should be application/json.'], type)
  }
  const authorization = `Bearer ${key}`
  const untyped = await call(base, { path: '/v3/mail/send', headers: { authorization }, body })
  refusedV3(t, untyped, [415, 'Content-Type should be application/json.'], 'no type')
  for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset=UTF-8', 'application/json ;x=y']) {
    refusedV3(t, await ask(base, { ...MAIL, body, headers: { 'content-type': type } }), [400, 'Bad Request'], type)
  }
})

t.test('an empty body with a JSON content type counts as absent, for every method', async (t) => {
  proves(t, 'empty-body')
  t.equal((await ask(base, { ...SCOPES, headers: { 'content-length': '0' } })).status, 200)
  refusedV3(t, await ask(base, { ...MAIL, body: '' }), [400, 'Bad Request'])
  refusedV3(t, await ask(base, { ...MAIL, headers: { 'transfer-encoding': 'chunked' }, body: '' }), [
    400,
    'Bad Request',
  ])
})

t.test('what is not JSON or not UTF-8 is refused', async (t) => {
  refusedV3(t, await ask(base, { ...MAIL, body: '{"from":' }), [400, 'Bad Request'], 'P26')
  const octets = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])
  refusedV3(t, await ask(base, { ...MAIL, body: octets }), [415, 'Invalid UTF8 in request', 'Encoding'])
})

t.test('a gzip body is read, an invalid one is rejected, and a bomb is not decompressed', async (t) => {
  proves(t, 'gzip')
  const zipped = { 'content-encoding': 'gzip' }
  const good = await ask(base, { ...MAIL, headers: zipped, body: gzipSync('{}') })
  t.equal(good.status, 400)
  t.notSame(complaintsOf(good), [])
  const chunked = { ...zipped, 'transfer-encoding': 'chunked' }
  t.strictSame((await ask(base, { ...MAIL, headers: chunked, body: gzipSync('{}') })).json, good.json, 'in chunks too')
  refusedV3(t, await ask(base, { ...MAIL, headers: zipped, body: '{}' }), [400, 'Bad Request'])
  const cut = gzipSync('{"from":1}').subarray(0, 20)
  refusedV3(t, await ask(base, { ...MAIL, headers: zipped, body: cut }), [400, 'Bad Request'])
  const bomb = gzipSync(Buffer.alloc(300 * 1024 * 1024, ' '))
  t.ok(bomb.length < 1024 * 1024)
  refusedV3(t, await ask(base, { ...MAIL, headers: zipped, body: bomb }), [413, /too large/])
  for (const encoding of ['br', 'deflate', 'gzip, gzip']) {
    const headers = { 'content-encoding': encoding }
    refusedV3(t, await ask(base, { ...MAIL, headers, body: '{}' }), [415, 'Content-Encoding should be gzip.'], encoding)
  }
})

t.test('a body beyond a message of full size is refused with 413, announced or not', async (t) => {
  const body = Buffer.alloc(45_000_000, ' ')
  const answer = [413, 'The request body is too large. Messages are limited to 30 MB.'] as const
  refusedV3(t, await ask(base, { ...MAIL, body }), answer)
  refusedV3(t, await ask(base, { ...MAIL, headers: { 'transfer-encoding': 'chunked' }, body }), answer)
})

t.test('every call except mail/send returns the rate limit headers, and calls beyond the limit get 429', async (t) => {
  proves(t, 'rate-limits')
  const limited = await service.makeSender()
  await service.core.accounts.limit(limited.accountId, { callsPerMinute: 3, sendsPerMinute: 1 })
  const at = await stopClock(service.sql)
  const reset = String(at.getTime() / 1000 + 55)
  const asked = { ...SCOPES, key: limited.apiKey }
  for (const left of ['2', '1', '0']) {
    const { status, headers } = await ask(base, asked)
    t.equal(status, 200)
    const { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': end } = headers
    t.strictSame([limit, remaining, end], ['3', left, reset])
  }
  const refused = await ask(base, asked)
  refusedV3(t, refused, [429, 'too many requests'], 'P48')
  t.match(refused.headers, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset, 'retry-after': /^\d+$/ })
  const mail = { ...MAIL, key: limited.apiKey, body: {} }
  t.equal((await ask(base, mail)).headers['x-ratelimit-limit'], undefined)
  const tooOften = await ask(base, mail)
  refusedV3(t, tooOften, [429, 'too many requests'])
  t.match(tooOften.headers, { 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset })
})

t.test('CORS preflight responses allow every call except mail/send', async (t) => {
  proves(t, 'cors')
  const preflight = { method: 'OPTIONS', headers: { origin: 'https://quay.example' } }
  const scopes = await ask(base, { ...preflight, path: '/scopes' })
  t.match(scopes, { status: 204, text: '', headers: { 'access-control-allow-origin': '*' } })
  t.match(scopes.headers['access-control-allow-headers'], /Authorization/)
  const mail = await ask(base, { ...preflight, path: '/mail/send' })
  t.match(mail, { status: 204, headers: { 'access-control-allow-methods': 'POST' } })
  t.equal(mail.headers['access-control-allow-origin'], new URL(service.config.publicUrl).origin)
  t.ok(mail.headers['x-no-cors-reason'])
  t.equal((await ask(base, SCOPES)).headers['access-control-allow-origin'], '*', 'and of every call')
})

t.test('HEAD is GET without the body, and paths have no case', async (t) => {
  t.match(await ask(base, { ...SCOPES, method: 'HEAD' }), { status: 200, text: '' })
  t.equal(
    (
      await call(base, {
        method: 'GET',
        path: '/V3/Scopes/',
        headers: { ...JSON_TYPE, authorization: `Bearer ${key}` },
      })
    ).status,
    200,
  )
})

t.test('what is not HTTP, or has too large a header, is refused in the shape of v3 too', async (t) => {
  const sentences = [
    ['GET /v3/scopes HTTP/1.1\r\nHost: x\r\nno colon here\r\n\r\n', 400, 'Malformed HTTP request'],
    [`GET /v3/scopes HTTP/1.1\r\nHost: x\r\nX-A: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'Request header is too large'],
  ] as const
  for (const [said, status, message] of sentences) {
    const { statuses, text } = await sayAndWait(t, base, said)
    t.strictSame(statuses, [status])
    const body = text.slice(text.indexOf('\r\n\r\n'))
    t.strictSame(JSON.parse(body), { errors: [{ message, field: null, help: null }] })
  }
})

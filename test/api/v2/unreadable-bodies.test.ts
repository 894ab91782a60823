import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { call, errorText, FORM, JSON_TYPE, refused } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const text = JSON.stringify(v2Body(sender))
const post = (body: string | Buffer, headers: Record<string, string> = JSON_TYPE, path = '/v2/sendEmail') =>
  call(base, { path, headers: { api_key: sender.apiKey, ...headers }, body })
const encoded = (encoding: string) => ({ ...JSON_TYPE, 'content-encoding': encoding })
const MULTIPART = { 'content-type': 'multipart/form-data; boundary=B' }

const REASONS: readonly (readonly [
  what: string,
  why: string,
  body: string | Buffer,
  headers?: Record<string, string>,
])[] = [
  ['ISO-8859-1', 'body is not UTF-8', Buffer.from(text.replace('Berth', 'Börse'), 'latin1')],
  ['UTF-16', 'body is not UTF-8', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])],
  ['a key twice', 'the key "a" is duplicated in one object', `{"a":1,"a":2}`],
  [
    'a key twice, once in escapes',
    'the key "a" is duplicated in one object',
    '{"b":{"a":1},"a":[{"a":1}],"\\u0061":2}',
  ],
  ['an empty key twice', 'the key "" is duplicated in one object', '{"x":[{"y":":"},{"":1, "" : 2}]}'],
  [
    'a long key twice',
    `the key "${'k'.repeat(60)}…" is duplicated in one object`,
    `{"${'k'.repeat(61)}":1,"${'k'.repeat(61)}":2}`,
  ],
  [
    'a key twice that has line ends, quotes and a change of direction',
    'the key "\\r\\n\\"\\u202ea\\u2028\\ud83d" is duplicated in one object',
    '{"\\r\\n\\"\u202ea\u2028\\ud83d":1,"\\r\\n\\"\u202ea\u2028\\ud83d":2}',
  ],
  ['a byte order mark', 'body begins with a byte order mark', `\ufeff${text}`],
  ['a comma too many', 'syntax error', `${text.slice(0, -1)},}`],
  ['its end missing', 'syntax error', text.slice(0, -1)],
  ['nesting of 65', 'nesting exceeds 64 levels', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`],
  ['a __proto__', 'the names __proto__ and constructor.prototype are not allowed', '{"__proto__":{}}'],
  ['a list', 'body must be a JSON object', '[]'],
  ['gzip that nobody announced', 'body is compressed; set Content-Encoding: gzip', gzipSync(text)],
  ['gzip that is none', 'body is not gzip, although Content-Encoding says so', text, encoded('gzip')],
  ['gzip that is cut', 'gzip data ends early', gzipSync(text).subarray(0, 40), encoded('gzip')],
  ['brotli', 'content encoding br is not supported; use gzip', brotliCompressSync(text), encoded('br')],
  [
    'deflate and gzip',
    'content encoding deflate, gzip is not supported; use gzip',
    gzipSync(deflateSync(text)),
    encoded('deflate, gzip'),
  ],
  ['a form of ISO-8859-1', 'body is not valid utf-8', Buffer.from('subject=ü', 'latin1'), FORM],
  ['a form with escapes of ISO-8859-1', 'form escapes are not UTF-8', 'subject=%FC', FORM],
  [
    'a form with a name for a prototype',
    'the names __proto__ and constructor.prototype are not allowed',
    '__proto__[a]=1',
    FORM,
  ],
  ['a form nested too deep', 'nesting exceeds 8 levels', 'a[b][c][d][e][f][g][h][i]=1', FORM],
  ['a form with JSON that is none', 'syntax error', 'personalizations=[', FORM],
  ['multipart without a boundary', 'Content-Type has no boundary', 'x', { 'content-type': 'multipart/form-data' }],
  [
    'multipart without an end',
    'multipart part without end',
    '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\nx',
    MULTIPART,
  ],
]
for (const [what, why, body, headers] of REASONS) {
  t.test(`a body with ${what} is refused with 111, which says why`, async (t) => {
    refused(t, await post(body, headers), [400, 111, `Invalid JSON format: ${why}`])
    const other = await post(body, headers, '/v2/template')
    t.equal(errorText(other), `Invalid JSON format: ${why}`, 'by every operation')
  })
}

t.test('a body by gzip is read, whatever it is of, announced or in pieces', async (t) => {
  const zipped = encoded('gzip')
  const form = `data=${encodeURIComponent(text)}`
  const multipart = `--B\r\nContent-Disposition: form-data; name="data"\r\n\r\n${text}\r\n--B--\r\n`
  const answers = [
    await post(gzipSync(text), zipped),
    await post(gzipSync(text), encoded('X-GZIP')),
    await post(gzipSync(text), { ...zipped, 'transfer-encoding': 'chunked' }),
    await post(gzipSync(form), { ...zipped, ...FORM }),
    await post(gzipSync(multipart), { ...zipped, ...MULTIPART }),
    await post(text, encoded('identity')),
    await post(gzipSync('{"templateName":"zipped","content":"C"}'), zipped, '/v2/template'),
    await post(
      gzipSync(`{"content":"${'x'.repeat(400_000)}",${text.slice(1)}`.replace('"content":"<p', '"x":"<p')),
      zipped,
    ),
  ]
  for (const answer of answers) t.equal(answer.status, 200, answer.text)
})

t.test('a list of suppressions may come by gzip', async (t) => {
  const headers = { 'content-type': 'text/csv', 'content-encoding': 'gzip' }
  const answer = await post(gzipSync('email\nx@harbor.example\n'), headers, '/v2/suppression/import')
  t.match(answer.json, { data: { rows: 1, added: 1 } })
  t.match((await post('email\nx@harbor.example\n', headers, '/v2/suppression/import')).json, {
    error_info: {
      error_code: 111,
      error_message: 'Invalid JSON format: body is not gzip, although Content-Encoding says so',
    },
  })
})

t.test('a list of which far more comes out than went in is refused, and a call of the same kind is not', async (t) => {
  const headers = { 'content-type': 'text/csv', 'content-encoding': 'gzip' }
  const list = await post(gzipSync(`email\n${'a\n'.repeat(1_000_000)}`), headers, '/v2/suppression/import')
  t.match(list, {
    status: 413,
    json: {
      error_info: { error_message: 'Payload must not exceed 128 MB uncompressed, or 20 times the compressed size' },
    },
  })
  const call = gzipSync(`{"x":"${'a'.repeat(10_000_000)}",${text.slice(1)}`)
  t.equal((await post(call, encoded('gzip'))).status, 200)
})

t.test('what a small body by gzip becomes is bounded', async (t) => {
  const bomb = gzipSync(Buffer.alloc(300 * 1024 * 1024, ' '))
  refused(t, await post(bomb, encoded('gzip')), [413, 121, 'Payload must not exceed 30 MB'])
  const list = await post(bomb, { 'content-type': 'text/csv', 'content-encoding': 'gzip' }, '/v2/suppression/import')
  t.match(list.json, { error_info: { error_code: 143, error_message: /a row exceeds 8192 bytes/ } })
  t.equal((await post(text)).status, 200, 'and the next call is answered')
})

t.test('the key is evaluated before the encoding, and no body needs none', async (t) => {
  const headers = { ...encoded('br'), api_key: 'nope' }
  refused(t, await call(base, { headers, body: 'x' }), [401, 101])
  const none = await call(base, {
    method: 'GET',
    path: '/v2/template',
    headers: { api_key: sender.apiKey, 'content-encoding': 'br' },
  })
  t.equal(none.status, 200)
})

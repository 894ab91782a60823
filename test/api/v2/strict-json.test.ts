import t from 'tap'
import { v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { call, messageIdOf, refused } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const good = v2Body(sender)
const text = JSON.stringify(good)
/** The good body with members in front of its own. */
const withMembers = (members: string) => `{${members},${text.slice(1)}`
const inAttributes = (members: string) => text.replace('"recipient"', `"attributes":{${members}},"recipient"`)
const post = (body: string | Buffer, type = 'application/json') =>
  call(base, { headers: { api_key: sender.apiKey, ...(type === '' ? {} : { 'content-type': type }) }, body })
const octets = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))

const NOT_JSON: readonly (readonly [name: string, body: string | Buffer])[] = [
  // What a key given twice means depends on the reader.
  ['a key twice', withMembers('"subject":"first"')],
  ['a key twice, once in escapes', withMembers('"\\u0073ubject":"first"')],
  ['a key twice, deep inside', inAttributes('"NAME":"a","NAME":"b"')],
  ['an unknown key twice', withMembers('"a":1,"a":1')],
  ['an empty key twice', withMembers('"":1,"":2')],
  ['nesting of 65', withMembers(`"a":${'['.repeat(64)}${']'.repeat(64)}`)],
  ['nesting of 65 objects', withMembers(`"a":${'{"a":'.repeat(64)}1${'}'.repeat(64)}`)],
  ['nesting of a million', `{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`],
  ['nesting of a million that never ends', `{"a":${'['.repeat(1_000_000)}`],
  ['a byte order mark', `\ufeff${text}`],
  ['UTF-16', Buffer.from(text, 'utf16le')],
  ['UTF-16 with a byte order mark', octets([0xff, 0xfe], Buffer.from(text, 'utf16le').toString('latin1'))],
  ['ISO-8859-1', Buffer.from(text.replace('Berth', 'Börse'), 'latin1')],
  ['a cut UTF-8 sequence', octets('{"a":"', [0xe2, 0x82], '"}')],
  ['an overlong UTF-8 sequence', octets('{"a":"', [0xc0, 0xaf], '"}')],
  ['a surrogate in UTF-8', octets('{"a":"', [0xed, 0xa0, 0x80], '"}')],
  ['UTF-8 beyond Unicode', octets('{"a":"', [0xf4, 0x90, 0x80, 0x80], '"}')],
  ['a __proto__', withMembers('"__proto__":{"polluted":1}')],
  ['a __proto__ in escapes', withMembers('"\\u005f\\u005fproto__":{"polluted":1}')],
  ['a __proto__ deep inside', inAttributes('"__proto__":"x"')],
  ['a constructor.prototype', withMembers('"constructor":{"prototype":{"polluted":1}}')],
  ['a comment', withMembers('/* x */"a":1')],
  ['a comma too many', `${text.slice(0, -1)},}`],
  ['single quotes', "{'a':1}"],
  ['bare keys', '{a:1}'],
  ['NaN', withMembers('"a":NaN')],
  ['Infinity', withMembers('"a":-Infinity')],
  ['a number with a leading zero', withMembers('"a":01')],
  ['a hexadecimal number', withMembers('"a":0x1F')],
  ['a number with a plus', withMembers('"a":+1')],
  ['a raw line end in text', withMembers('"a":"b\nc"')],
  ['a raw tab in text', withMembers('"a":"b\tc"')],
  ['a raw NUL', withMembers('"a":"b\0c"')],
  ['an unknown escape', withMembers('"a":"\\x41"')],
  ['a cut escape', withMembers('"a":"\\u12"')],
  ['something behind it', `${text}x`],
  ['two bodies', `${text}${text}`],
  ['a NUL behind it', `${text}\0`],
  ['a no-break space before it', `\u00a0${text}`],
  ['a form feed before it', `\f${text}`],
]
for (const [name, body] of NOT_JSON) {
  t.test(`JSON with ${name} is refused with 111`, async (t) => {
    refused(t, await post(body), [400, 111, /^Invalid JSON format: /])
    t.notOk('polluted' in {})
  })
}

const STRANGE: readonly (readonly [name: string, body: string])[] = [
  ['nesting of 64', withMembers(`"a":${'['.repeat(63)}${']'.repeat(63)}`)],
  ['white space of all four kinds', ` \t\r\n${text} \t\r\n`],
  ['colons, quotes, brackets and backslashes in text', inAttributes('"a":":{[\\"\\\\","b":"\\\\","c:":"\\\\\\""')],
  ['the same key in two objects', withMembers('"a":{"x":1},"b":{"x":1}')],
  [
    'names that objects have of their own',
    inAttributes('"toString":"x","constructor":"y","hasOwnProperty":"z","length":1'),
  ],
  ['a constructor without prototype', withMembers('"constructor":{"name":1}')],
  [
    'numbers beyond what they can be',
    withMembers('"a":1e400,"b":-1e400,"c":1e-400,"d":123456789012345678901234567890'),
  ],
  ['unknown members of any kind', withMembers('"a":[null,true,{"b":[]}],"":{}')],
  ['escaped surrogate pairs', text.replace('Berth', '\\ud83d\\udea2')],
  ['a key of a megabyte', withMembers(`"${'a'.repeat(1_000_000)}":1`)],
  ['200,000 members', withMembers(Array.from({ length: 200_000 }, (_, at) => `"k${at}":${at}`).join(','))],
  ['200,000 elements', withMembers(`"a":[${'[],'.repeat(199_999)}[]]`)],
]
for (const [name, body] of STRANGE) {
  t.test(`JSON with ${name} is taken`, async (t) => t.equal((await post(body)).status, 200))
}

const HUGE: readonly (readonly [name: string, body: string, parameter: string])[] = [
  ['an attribute beyond what a number can be', inAttributes('"a":1e400'), 'personalizations[0].attributes.a'],
  ['a flag beyond what a number can be', withMembers('"settings":{"footer":1e400}'), 'settings.footer'],
  ['a schedule of 400 digits', withMembers(`"schedule":${'9'.repeat(400)}`), 'schedule'],
  ['a schedule in the year 33658', withMembers('"schedule":999999999999'), 'schedule'],
]
for (const [name, body, parameter] of HUGE) {
  t.test(`${name} is refused and named`, async (t) => {
    const answer = await post(body)
    refused(t, answer, [400, 113])
    t.ok(answer.text.includes(`Parameter [${parameter}] `), answer.text)
  })
}

/** Text with half a character would come back changed. */
const LONE: readonly (readonly [parameter: string, body: string])[] = [
  ['subject', text.replace('Berth', '\\ud83d')],
  ['from.fromName', text.replace('Ship Desk', '\\udea2')],
  ['content', text.replace('<p>', '\\ud800')],
  ['tags', withMembers('"tags":"\\udfff"')],
  ['personalizations[0].attributes', inAttributes('"\\ud83d":"x"')],
  ['personalizations[0].attributes.a', inAttributes('"a":"\\ud83dx\\udea2"')],
  ['personalizations[0].recipient', text.replace('lena', '\\ud83d')],
  ['attachments[0].fileName', withMembers('"attachments":[{"fileName":"\\ud83d","fileContent":"YQ=="}]')],
]
for (const [parameter, body] of LONE) {
  t.test(`half a surrogate pair in ${parameter} is refused and named`, async (t) => {
    const answer = await post(body)
    refused(t, answer, [400, 113])
    t.ok(answer.text.includes(`Parameter [${parameter}] `), answer.text)
  })
}

const AS_JSON = [
  '',
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'application/json ; charset=utf-8',
  'application/problem+json',
  'text/plain',
  'text/json',
  'application/octet-stream',
  'application/jsonx',
]
t.test('whatever its type is called, a JSON body is taken, and evaluated by the same rules', async (t) => {
  for (const type of AS_JSON) {
    t.equal((await post(text, type)).status, 200, type)
    refused(t, await post(JSON.stringify({ ...good, recipient: 1, subject: '' }), type), [400, 116], type)
    refused(t, await post(withMembers('"a":1,"a":2'), type), [400, 111], type)
  }
})

const TRICKS = [
  'application/json\t; charset=utf-8',
  'application/json, text/plain',
  'application/json;',
  'application/json;;',
  'application/json; a="',
  'application/jso\u00f1',
  ' application/json',
  'application',
  '/',
  ';',
  'a/b/c',
  'application/json/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary="',
  'multipart/mixed; boundary=B',
  'application/x-www-form-urlencoded\t',
  'application/x-www-form-urlencoded; charset=utf-16',
  'x'.repeat(5000),
]
t.test('no content type gets a body past the rules', async (t) => {
  const wrong = JSON.stringify({ ...good, personalizations: 'abc' })
  for (const type of TRICKS) {
    const { status, json } = await post(wrong, type)
    t.equal(status, 400, type)
    t.match(json, { error_info: { error_code: /^(110|111|114|120)$/ } }, type)
  }
})

t.test('text is stored unchanged', async (t) => {
  const subject = 'a "quote" \\ / \u2028 \u{1f6a2} \u00e9 e\u0301 \u007f'
  const id = messageIdOf(await post(JSON.stringify({ ...good, subject })))
  t.equal((await service.core.messages.show(id))?.subject, subject)
})

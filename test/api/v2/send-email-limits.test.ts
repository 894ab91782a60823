import t from 'tap'
import { processorTimeOf } from '../../helpers/pace.ts'
import { v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { call, FORM, refused } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const json = JSON.stringify(v2Body(sender))
const send = (body: string | Record<string, unknown>, headers: Record<string, string> = {}) =>
  call(base, { headers: { api_key: sender.apiKey, ...headers }, body })
const stored = async () => (await service.sql`select count(*)::int as count from messages`)[0]?.count

const recipients = (count: number, more = {}) => ({
  personalizations: Array.from({ length: count }, (_, at) => ({ recipient: `r${at}@harbor.example`, ...more })),
})
const TOO_MANY = [400, 123, 'Too many recipients: the limit is 10000 per call'] as const
const COUNTS: readonly (readonly [what: string, extra: Record<string, unknown>, refused: boolean])[] = [
  ['10,000 recipients', recipients(10_000), false],
  ['10,001 recipients', recipients(10_001), true],
  ['200,000 recipients', recipients(200_000), true],
  ['5,000 recipients with a copy each', recipients(5000, { recipient_cc: 'a@harbor.example' }), false],
  ['3,334 recipients with two copies each', recipients(3334, { recipient_bcc: ['a@b.example', 'c@d.example'] }), true],
  ['5,001 recipients with a copy of all', { ...recipients(5001), settings: { bcc: 'a@harbor.example' } }, true],
  ['one recipient with 10,000 copies', recipients(1, { recipient_cc: Array(10_000).fill('a@harbor.example') }), true],
]
for (const [what, extra, tooMany] of COUNTS) {
  t.test(`${what} in one call are ${tooMany ? 'refused with 123' : 'taken'}`, async (t) => {
    const before = await stored()
    const answer = await send(v2Body(sender, extra))
    if (tooMany) refused(t, answer, TOO_MANY)
    else t.equal(answer.status, 200, answer.text)
    t.equal(await stored(), before + (tooMany ? 0 : 1))
  })
}

const file = { fileName: 'a', fileContent: 'YQ==' }
const files = (count: number) => Array(count).fill(file)
const FILES: readonly (readonly [what: string, extra: Record<string, unknown>, parameter: string | undefined])[] = [
  ['a file for each of 10,000 recipients', recipients(10_000, { attachments: files(1) }), undefined],
  ['10,001 files for all', { attachments: files(10_001) }, 'attachments'],
  ['100,000 files for all', { attachments: files(100_000) }, 'attachments'],
  ['10,001 files for one', recipients(1, { attachments: files(10_001) }), 'personalizations[0].attachments'],
  [
    '10,000 files for two and one for all',
    { ...recipients(2, { attachments: files(5000) }), attachments: files(1) },
    'personalizations[1].attachments',
  ],
  ['10,001 stored files', { attachmentId: Array(10_001).fill(1) }, 'attachmentId'],
  ['14 million stored files in one text', { attachmentId: '1,'.repeat(14_000_000) }, 'attachmentId'],
]
for (const [what, extra, parameter] of FILES) {
  t.test(`${what} are ${parameter ? `refused, and ${parameter} is named` : 'taken'}`, async (t) => {
    const answer = await send(v2Body(sender, extra))
    if (!parameter) return t.equal(answer.status, 200, answer.text)
    const sentence = `Parameter [${parameter}] is invalid: must have at most 10000 files per call`
    refused(t, answer, [400, 113, sentence])
  })
}

/** 30 MB of text here and gigabytes of values once parsed. */
const VALUES: readonly (readonly [what: string, json: string])[] = [
  ['empty objects', `{"personalizations":[${'{},'.repeat(9_999_999)}{}]}`],
  ['empty lists', `{"a":[${'[],'.repeat(9_999_999)}[]],${json.slice(1)}`],
  ['numbers', `{"attachmentId":[${'1,'.repeat(14_999_999)}1],${json.slice(1)}`],
  [
    'attributes',
    json.replace(
      '"recipient"',
      `"attributes":{${Array.from({ length: 600_000 }, (_, at) => `"${at}":0`)}},"recipient"`,
    ),
  ],
  [
    'values of a form',
    `data=${json.replace('"recipient"', `"attributes":{${Array.from({ length: 600_000 }, (_, at) => `"${at}":0`)}},"recipient"`)}`,
  ],
  [
    'values in several parameters of a form',
    ['personalizations', 'from', 'settings'].map((name) => `${name}=[${'{},'.repeat(200_000)}{}]`).join('&'),
  ],
  ['values beside the others of a form', `${'a[]=x&'.repeat(150_000)}from=[${'{},'.repeat(200_000)}{}]`],
]
for (const [what, text] of VALUES) {
  t.test(`a body of too many ${what} is refused with 121, in no time`, async (t) => {
    const took = await processorTimeOf(async () => {
      const answer = await send(text, text.startsWith('{') ? {} : FORM)
      refused(t, answer, [413, 121, 'Payload must not exceed 500000 values'])
    })
    t.ok(took < 10_000, `${took} ms`)
  })
}

const OPERATIONS: readonly (readonly [what: string, path: string, form: string])[] = [
  ['JSON', '/v2/templates/1/render', `attributes={"a":[${'{},'.repeat(300_000)}{}]}`],
  ['a list with commas', '/v2/templates', `templateName=a&content=b&variables=${'a,'.repeat(600_000)}`],
]
for (const [what, path, body] of OPERATIONS) {
  t.test(`too many values in ${what} of any operation's form are refused with 121`, async (t) => {
    const answer = await call(base, { path, headers: { api_key: sender.apiKey, ...FORM }, body })
    const wanted = { error_code: 121, error_message: 'Payload must not exceed 500000 values' }
    t.match(answer, { status: 413, json: { error_info: wanted } })
  })
}

const field = (name: string, value: string) =>
  `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const multipart = (value: string) =>
  `${field('data', json)}${field('personalizations[0][attributes][A]', value)}${field('content', value)}--B--\r\n`
for (const [what, value, tooLarge] of [
  ['12 MB of control characters', '\x01'.repeat(6_000_000), true],
  ['8 MB of control characters', '\x01'.repeat(4_000_000), false],
  ['14 MB of quotes', '"'.repeat(7_000_000), false],
] as const) {
  t.test(
    `a form of ${what} is ${tooLarge ? 'refused, because they are six times as long in JSON' : 'read'}`,
    async (t) => {
      const answer = await send(multipart(value), { 'content-type': 'multipart/form-data; boundary=B' })
      if (tooLarge) refused(t, answer, [413, 121, 'Payload must not exceed 60 MB in JSON'])
      else t.equal(answer.status, 400, answer.text)
    },
  )
}

/** Small calls that would become large ones. */
const GROWING: readonly (readonly [what: string, extra: Record<string, unknown>, parameter: string])[] = [
  [
    'thousands of copies that each name the others with more than 512 kB',
    recipients(1, {
      recipient_cc: Array.from(
        { length: 9000 },
        (_, at) => `a.long.name.of.somebody.at.the.end.of.the.quay.${at}@harbor.example`,
      ),
    }),
    'personalizations[0].recipient_cc',
  ],
  [
    '25 copies with a megabyte of control characters each',
    recipients(1, {
      recipient_cc: Array.from({ length: 24 }, (_, at) => `r${at}@harbor.example`),
      attributes: { A: '\x01'.repeat(1_000_000) },
    }),
    'personalizations[0].recipient_cc',
  ],
  [
    'a long value for many tags in the content',
    { ...recipients(1, { attributes: { A: 'x'.repeat(100_000) } }), content: '[%A%]'.repeat(100_000) },
    'personalizations[0].attributes',
  ],
  [
    'a long value for a tag in the subject',
    { ...recipients(1, { attributes: { A: 'x'.repeat(5000) } }), subject: '[%A%]' },
    'personalizations[0].attributes',
  ],
  [
    '51 header fields',
    recipients(1, { 'x-headers': Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`X-${at}`, 'a'])) }),
    'personalizations[0].x-headers',
  ],
]
for (const [what, extra, parameter] of GROWING) {
  t.test(`${what} are refused and named`, async (t) => {
    const answer = await send(v2Body(sender, extra))
    refused(t, answer, [400, 113])
    t.ok(answer.text.includes(`Parameter [${parameter}] is invalid: `), answer.text)
  })
}

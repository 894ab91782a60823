import t from 'tap'
import { v2Body } from '../../helpers/send.ts'
import { makeArrivals } from '../arrivals.ts'
import { asForm, call, FORM, refused as refusedSend } from '../call.ts'
import { accountCalls, refusedIn } from './account-calls.ts'

const { service, base, sender, send, copies, deliver } = await makeArrivals(t)
const { ask, data } = accountCalls(base, sender.apiKey)
const refused = refusedIn('Template')

let made = 0
const create = async (content: string, variables: unknown[], extra: Record<string, unknown> = {}): Promise<number> =>
  (
    await data<{ templateId: number }>('POST', '/template', {
      templateName: `t ${++made}`,
      content,
      variables,
      ...extra,
    })
  ).templateId
const to = (...attributes: Record<string, unknown>[]) => ({
  personalizations: attributes.map((attributes, at) => ({ recipient: `r${at}@harbor.example`, attributes })),
})
const sendTo = (templateId: number, attributes: Record<string, unknown>[], extra: Record<string, unknown> = {}) =>
  call(base, {
    headers: { api_key: sender.apiKey },
    body: v2Body(sender, { content: '%20', templateId, ...to(...attributes), ...extra }),
  })
const stored = async () => (await service.sql`select count(*)::int as count from messages`)[0]?.count

const REQUIRED = [{ name: 'NAME', required: true }, { name: 'CITY' }]

t.test(
  'a send that lacks a required variable for one recipient is refused, with its path, and nothing is sent',
  async (t) => {
    const id = await create('[%NAME%] [%CITY%]', REQUIRED)
    const before = await stored()
    const path = 'Parameter [personalizations[2].attributes.NAME] not passed'
    for (const lacking of [{}, { CITY: 'Kiel' }, { NAME: null }, { NAME: '' }]) {
      refusedSend(t, await sendTo(id, [{ NAME: 'a' }, { name: 'b' }, lacking]), [400, 113, path])
    }
    t.equal(await stored(), before)
    t.equal(
      (await sendTo(id, [{ NAME: 'a' }, { name: 'b' }, { Name: 'c' }])).status,
      200,
      'a name counts whatever its case',
    )
  },
)

const TYPES: readonly (readonly [type: string, good: readonly unknown[], bad: readonly unknown[], problem: string])[] =
  [
    ['string', ['x', 5, true, ' '], [], ''],
    [
      'number',
      [5, 0, '5', '-4.50', '1e3', '.5', 1.5],
      ['x', '5 EUR', '1,5', ' ', '0x10', 'NaN', 'Infinity', true],
      'must be a number',
    ],
    ['boolean', [true, false, 'true', 'FALSE', 1, '0'], ['yes', 2, 'on'], 'must be true or false'],
    [
      'date',
      ['2026-01-05', '2024-02-29', '2026-01-05T10:11:12Z', '2026-01-05 10:11', '2026-01-05T10:11:12.5+01:00'],
      ['05.01.2026', '2026-02-30', '2026-13-01', '2026-01-05T25:00', 'today', 1767607872],
      'must be a date like 2026-01-05 or 2026-01-05T10:11:12Z',
    ],
  ]
for (const [type, good, bad, problem] of TYPES) {
  t.test(`a variable of type ${type} accepts a valid value, and rejects an invalid one with its path`, async (t) => {
    const id = await create('[%V%]', [{ name: 'V', type }])
    for (const value of good) t.equal((await sendTo(id, [{ V: value }])).status, 200, String(value))
    t.equal((await sendTo(id, [{}])).status, 200, 'none at all is fine: it is not required')
    for (const value of bad) {
      const sentence = `Parameter [personalizations[1].attributes.V] is invalid: ${problem}`
      refusedSend(t, await sendTo(id, [{}, { V: value }]), [400, 113, sentence], String(value))
    }
  })
}

t.test('a default is used where a recipient has no value, in content, subject and names', async (t) => {
  const id = await create('<p>[%NAME%] [%name%] [%FEE%]</p>', [
    { name: 'NAME', required: true, default: 'friend' },
    { name: 'FEE', type: 'number', default: 4.5 },
  ])
  t.match((await data('GET', `/template/${id}`)).variables, [
    { name: 'NAME', type: 'string', required: true, default: 'friend' },
    { name: 'FEE', type: 'number', required: false, default: '4.5' },
  ])
  const people = [{ NAME: 'Ada' }, {}, { NAME: null }, { name: '', FEE: 9 }, { fee: 0 }]
  const answer = await send({ ...to(...people), subject: 'For [%NAME%]', content: '%20', templateId: id })
  const arrived = await copies(answer, 5)
  const seen = arrived.map(({ mail }) => [mail.subject, mail.html])
  t.strictSame(seen, [
    ['For Ada', '<p>Ada Ada 4.5</p>'],
    ['For friend', '<p>friend friend 4.5</p>'],
    ['For friend', '<p>friend friend 4.5</p>'],
    ['For friend', '<p>friend friend 9</p>'],
    ['For friend', '<p>friend friend 0</p>'],
  ])
})

t.test('values go in as they are written, whatever their type', async (t) => {
  const id = await create('[%N%] [%B%] [%D%]', [
    { name: 'N', type: 'number' },
    { name: 'B', type: 'boolean' },
    { name: 'D', type: 'date' },
  ])
  const { mail } = await deliver({ ...to({ N: '007', B: 'TRUE', D: '2026-01-05' }), content: '%20', templateId: id })
  t.equal(mail.html, '007 TRUE 2026-01-05')
})

t.test('a form’s values are held against the variables like JSON’s', async (t) => {
  const id = await create('[%N%]', [{ name: 'N', type: 'number', required: true }])
  const form = (attributes: Record<string, unknown>) =>
    call(base, {
      headers: { api_key: sender.apiKey, ...FORM },
      body: asForm(v2Body(sender, { content: '%20', templateId: id, ...to(attributes) })),
    })
  refusedSend(t, await form({ M: 1 }), [400, 113, 'Parameter [personalizations[0].attributes.N] not passed'])
  t.equal((await form({ N: 1 })).status, 200)
})

t.test('a template of before, or without variables, asks for nothing', async (t) => {
  const id = await create('[%A%]', [])
  t.equal((await sendTo(id, [{}])).status, 200)
})

t.test('invalid variables are rejected with 113 and named', async (t) => {
  const good = { name: 'A' }
  for (const [variables, parameter] of [
    ['x', 'variables'],
    [{ A: 'string' }, 'variables'],
    [[good, {}], 'variables[1]'],
    [[good, { name: '' }], 'variables[1].name'],
    [[good, { name: 'a b' }], 'variables[1].name'],
    [[good, { name: 'x'.repeat(101) }], 'variables[1].name'],
    [[good, { name: 'a' }], 'variables[1].name'],
    [[good, { name: 'B', type: 'text' }], 'variables[1].type'],
    [[good, { name: 'B', required: 'maybe' }], 'variables[1].required'],
    [[good, { name: 'B', default: {} }], 'variables[1].default'],
    [[good, { name: 'B', type: 'number', default: 'x' }], 'variables[1].default'],
    [[good, { name: 'B', type: 'date', default: '2026-02-30' }], 'variables[1].default'],
    [[good, { name: 'B', default: 'x'.repeat(4097) }], 'variables[1].default'],
    [[good, { name: 'B', default: 'a\0b' }], 'variables[1].default'],
    [Array.from({ length: 51 }, (_, at) => ({ name: `V${at}` })), 'variables'],
  ] as const) {
    const answer = await ask('POST', '/template', { templateName: `t ${++made}`, content: 'x', variables })
    refused(t, answer, [113], JSON.stringify(variables).slice(0, 60))
    t.match(answer.text, `Parameter [${parameter}] `)
  }
})

t.test('names of an object’s own are variables like any', async (t) => {
  const id = await create('[%constructor%] [%__proto__%] [%toString%]', [
    { name: 'constructor', default: 'c' },
    { name: '__proto__', default: 'p' },
    { name: 'toString', required: true },
  ])
  refusedSend(t, await sendTo(id, [{}]), [400, 113, 'Parameter [personalizations[0].attributes.toString] not passed'])
  const { mail } = await deliver({ ...to({ toString: 's' }), content: '%20', templateId: id })
  t.equal(mail.html, 'c p s')
})

t.test('a default that would break a header or make the content too large is refused at the send', async (t) => {
  const breaks = await create('x', [{ name: 'A', default: 'a\r\nBcc: x@y.example' }])
  refusedSend(t, await sendTo(breaks, [{}], { subject: '[%A%]' }), [400, 113, /personalizations\[0\]\.attributes/])
  const large = await create('[%A%]'.repeat(8000), [{ name: 'A', default: 'x'.repeat(4096) }])
  refusedSend(t, await sendTo(large, [{}]), [400, 113, /exceeds 30 MB/])
})

t.test('a template’s subject serves a send that has none, and a send’s own wins', async (t) => {
  const id = await create('x', [], { subject: 'Berth for [%NAME%]' })
  const none = { ...to({ NAME: 'Ada' }), content: '%20', templateId: id }
  t.equal((await deliver({ ...none, subject: '' })).mail.subject, 'Berth for Ada')
  t.equal((await deliver({ ...none, subject: 'Mine' })).mail.subject, 'Mine')
  const [row] = await service.sql`select subject from messages order by id limit 1 offset ${(await stored()) - 2}`
  t.equal(row?.subject, 'Berth for [%NAME%]')
  const without = await create('x', [])
  refusedSend(t, await sendTo(without, [{}], { subject: '' }), [400, 116])
  refusedSend(t, await sendTo(999_999, [{}], { subject: '' }), [400, 118], 'told before 116')
  refusedSend(t, await sendTo(id, [{ NAME: 'a\r\nb' }], { subject: '' }), [400, 113, /personalizations\[0\]/])
})

t.test('a rendering is what a recipient gets', async (t) => {
  const variables = [{ name: 'FEE', type: 'number', default: 4 }]
  const id = await create('<p>[%NAME%] [% fee %] [%GONE%] [%gone%] [%x y%] [%</p>', variables, {
    subject: 'Berth [%NAME%] [%PIER%]',
  })
  const attributes = { NAME: '<b>[%FEE%]</b>', unused: 1 }
  const rendered = await data('POST', `/template/${id}/render`, { attributes })
  t.strictSame(rendered, {
    version: 1,
    subject: 'Berth <b>[%FEE%]</b> ',
    content: '<p><b>[%FEE%]</b> 4   [%x y%] [%</p>',
    text: null,
    missing: ['PIER', 'GONE'],
    problems: [],
  })
  const { mail } = await deliver({ ...to(attributes), subject: '', content: '%20', templateId: id })
  t.strictSame([mail.html, mail.subject], [rendered.content, String(rendered.subject).trim()])
  for (const body of [asForm({ attributes }), asForm({ attributes: JSON.stringify(attributes) })]) {
    t.strictSame(await data('POST', `/templates/${id}/render`, body, FORM), rendered)
  }
  t.match(await data('POST', `/template/${id}/render`, { attributes, subject: 'S [%FEE%]' }), { subject: 'S 4' })
  t.match(await data('POST', `/template/${id}/render`), { missing: ['NAME', 'PIER', 'GONE'] }, 'a body may be left out')
})

t.test('a rendering returns the errors of a send, and sends nothing', async (t) => {
  const id = await create('[%NAME%] [%FEE%]', [
    { name: 'NAME', required: true },
    { name: 'FEE', type: 'number' },
  ])
  const before = await stored()
  t.match(await data('POST', `/template/${id}/render`, { attributes: { FEE: 'much' } }), {
    missing: ['NAME'],
    problems: ['Parameter [attributes.NAME] not passed', 'Parameter [attributes.FEE] is invalid: must be a number'],
  })
  t.equal(await stored(), before)
})

t.test('a rendering beyond 30 MB is refused before it is made', async (t) => {
  const id = await create('[%A%]'.repeat(100_000), [])
  refused(t, await ask('POST', `/template/${id}/render`, { attributes: { A: 'x'.repeat(10_000) } }), [
    113,
    /exceeds 30 MB/,
  ])
  refused(t, await ask('POST', `/template/${id}/render`, { attributes: 'x' }), [113])
})

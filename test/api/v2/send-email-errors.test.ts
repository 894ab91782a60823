import t from 'tap'
import { v2Body } from '../../helpers/send.ts'
import { makeService } from '../../helpers/service.ts'
import { asForm, type CallOptions, call, FORM, JSON_TYPE, refused } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()
const sender = await service.makeSender()
const key = { api_key: sender.apiKey }
const body = v2Body(sender)
const without = (name: string) => Object.fromEntries(Object.entries(body).filter(([key]) => key !== name))
const stored = async () => Number((await service.sql`select count(*) from messages`)[0]?.count)

/** The contract's table of error pairs: what is sent, and status, code and text of the refusal. */
const PAIRS: readonly (readonly [
  name: string,
  body: Record<string, unknown>,
  status: number,
  code: number,
  text: string | RegExp,
])[] = [
  ['X113a without from', without('from'), 400, 113, 'Parameter [from.fromEmail] not passed'],
  [
    'X113a from without fromEmail',
    { ...body, from: { fromName: 'x' } },
    400,
    113,
    'Parameter [from.fromEmail] not passed',
  ],
  ['X113a a blank fromEmail', { ...body, from: { fromEmail: ' ' } }, 400, 113, 'Parameter [from.fromEmail] not passed'],
  [
    'X112 an unknown domain',
    { ...body, from: { fromEmail: 'desk@unknown.example' } },
    400,
    112,
    /^Invalid fromEmail, authentication failed: /,
  ],
  [
    'X112 no address',
    { ...body, from: { fromEmail: 'desk' } },
    400,
    112,
    'Invalid fromEmail, authentication failed: is not a valid email address',
  ],
  ...['Ship Desk <desk@ship.example>', '"Desk, Ship" <desk@ship.example> ', 'Desk<desk>'].map(
    (fromEmail) =>
      [
        `X112 ${fromEmail}`,
        { ...body, from: { fromEmail } },
        400,
        112,
        'Invalid fromEmail, authentication failed: must be only the address; put the name in fromName',
      ] as const,
  ),
  [
    'X112 a subdomain',
    { ...body, from: { fromEmail: `desk@x.${sender.domain}` } },
    400,
    112,
    /^Invalid fromEmail, authentication failed: /,
  ],
  [
    'X114 a blank recipient',
    { ...body, personalizations: [{ recipient: '' }] },
    400,
    114,
    'Recipient list is empty, at least one recipient is required',
  ],
  [
    'X114 no personalizations',
    without('personalizations'),
    400,
    114,
    'Recipient list is empty, at least one recipient is required',
  ],
  [
    'X114 an element without recipient',
    { ...body, personalizations: [{ recipient_cc: ['a@harbor.example'] }] },
    400,
    114,
    'Recipient list is empty, at least one recipient is required',
  ],
  ['X116 without subject', without('subject'), 400, 116, 'Subject not specified'],
  ['X116 an empty subject', { ...body, subject: '' }, 400, 116, 'Subject not specified'],
  ['X116 a blank subject', { ...body, subject: ' \t ' }, 400, 116, 'Subject not specified'],
  ['X117 without content', without('content'), 400, 117, 'Content not specified'],
  ['X117 an empty content', { ...body, content: '' }, 400, 117, 'Content not specified'],
  ['X117 content that decodes to blanks', { ...body, content: '%20%0A' }, 400, 117, 'Content not specified'],
  ['X117 AMP alone', { ...without('content'), ampcontent: '<html amp4email>' }, 400, 117, 'Content not specified'],
  ['X118 an unknown template', { ...body, content: '%20', templateId: 999999 }, 400, 118, 'Invalid templateId'],
  [
    'X118 an unknown template, without a subject',
    { ...body, subject: undefined, templateId: 999999 },
    400,
    118,
    'Invalid templateId',
  ],
  ['X118 a template id that is none', { ...body, templateId: 'berth' }, 400, 118, 'Invalid templateId'],
  ['X118 a template id beyond all', { ...body, templateId: '99999999999999999999' }, 400, 118, 'Invalid templateId'],
  ['X119 an unknown attachment', { ...body, attachmentId: '77' }, 400, 119, 'Invalid attachmentId'],
  ['X119 in its other spelling', { ...body, attachmentid: '77' }, 400, 119, 'Invalid attachmentId'],
  ['X119 among the settings', { ...body, settings: { attachmentid: '77,78' } }, 400, 119, 'Invalid attachmentId'],
  ['X119 an id that is none', { ...body, attachmentId: '1 or 1=1' }, 400, 119, 'Invalid attachmentId'],
  [
    'X120 an object',
    { ...body, personalizations: { recipient: 'a@harbor.example' } },
    400,
    120,
    'Personalizations must be an array',
  ],
  ['X120 text', { ...body, personalizations: 'a@harbor.example' }, 400, 120, 'Personalizations must be an array'],
]

for (const [name, body, status, code, text] of PAIRS) {
  t.test(`${name} is refused with ${code}, in JSON and as a form`, async (t) => {
    const before = await stored()
    refused(t, await call(base, { headers: { ...key, ...JSON_TYPE }, body }), [status, code, text], 'JSON:')
    refused(t, await call(base, { headers: { ...key, ...FORM }, body: asForm(body) }), [status, code, text], 'form:')
    t.equal(await stored(), before, 'nothing is stored')
  })
}

t.test('what only JSON can say is refused too', async (t) => {
  const cases: readonly (readonly [Record<string, unknown>, number])[] = [
    [{ ...body, personalizations: [] }, 114],
    [{ ...body, personalizations: null }, 120],
    [{ ...body, personalizations: 7 }, 120],
    [{ ...body, personalizations: true }, 120],
    [{ ...body, from: null }, 113],
    [{ ...body, subject: null }, 116],
    [{ ...body, content: null }, 117],
  ]
  for (const [body, code] of cases) {
    refused(t, await call(base, { headers: key, body }), [400, code], JSON.stringify(body).slice(0, 60))
  }
})

const BODIES: readonly (readonly [name: string, options: CallOptions, code: number, text: string | RegExp])[] = [
  ['X110 no body', {}, 110, 'Blank content passed in payload'],
  ['X110 no body, called JSON', { headers: JSON_TYPE }, 110, 'Blank content passed in payload'],
  ['X110 white space', { headers: JSON_TYPE, body: ' \r\n\t' }, 110, 'Blank content passed in payload'],
  ['X110 {}', { headers: JSON_TYPE, body: '{}' }, 110, 'Blank content passed in payload'],
  ['X110 an empty form', { headers: FORM, body: '' }, 110, 'Blank content passed in payload'],
  ['X110 a form of nothing', { headers: FORM, body: '&&=&' }, 110, 'Blank content passed in payload'],
  ['X110 a form whose data is {}', { headers: FORM, body: 'data=%7B%7D' }, 110, 'Blank content passed in payload'],
  [
    'X110 an empty multipart form',
    { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: '--x--\r\n' },
    110,
    'Blank content passed in payload',
  ],
  ['X111 half a body', { headers: JSON_TYPE, body: '{"personalizations":[' }, 111, /^Invalid JSON format: /],
  ['X111 a list', { headers: JSON_TYPE, body: '[]' }, 111, /^Invalid JSON format: /],
  ['X111 text', { headers: JSON_TYPE, body: '"x"' }, 111, /^Invalid JSON format: /],
  ['X111 null', { headers: JSON_TYPE, body: 'null' }, 111, /^Invalid JSON format: /],
  ['X111 not JSON', { headers: JSON_TYPE, body: '<xml/>' }, 111, /^Invalid JSON format: /],
  ['X111 a form whose data is not JSON', { headers: FORM, body: 'data=%7B' }, 111, /^Invalid JSON format: /],
  [
    'X111 a form parameter that is broken JSON',
    { headers: FORM, body: 'personalizations=[{' },
    111,
    /^Invalid JSON format: /,
  ],
  [
    'X111 a multipart form without boundary',
    { headers: { 'content-type': 'multipart/form-data' }, body: 'x' },
    111,
    /^Invalid JSON format: /,
  ],
]
for (const [name, options, code, text] of BODIES) {
  t.test(`${name} is refused with ${code}`, async (t) => {
    refused(t, await call(base, { ...options, headers: { ...key, ...options.headers } }), [400, code, text])
  })
}

t.test('an expired and a suspended account are refused with 115, before the body is looked at', async (t) => {
  const { accounts, auth } = service.core
  for (const [name, act, text] of [
    ['expired', (id: number) => accounts.expire(id, null), 'Account has expired'],
    ['suspended', accounts.suspend, 'Account is suspended'],
  ] as const) {
    const account = await accounts.create(name)
    const { secret } = await auth.createKey({ accountId: account.id })
    await act(account.id)
    for (const body of ['', '{', JSON.stringify(v2Body(sender))]) {
      refused(t, await call(base, { headers: { api_key: secret }, body }), [403, 115, text])
    }
  }
})

t.test('another account’s active domain is no domain of the caller: 112', async (t) => {
  const other = await service.makeSender()
  await service.core.domains.add({ accountId: sender.accountId, name: 'waits.example', state: 'pending' })
  const problems = [
    [other.domain, 'is not a sending domain of the account; add it first'],
    ['waits.example', 'is added but not verified yet; publish its DNS records'],
  ]
  for (const [domain, problem] of problems) {
    const from = { fromEmail: `desk@${domain}` }
    const why = `Invalid fromEmail, authentication failed: ${domain} ${problem}`
    refused(t, await call(base, { headers: key, body: { ...body, from } }), [400, 112, why])
  }
})

t.test('another account’s template and attachment are unknown: 118, 119', async (t) => {
  const other = await service.makeSender()
  const template = await service.core.templates.create({ accountId: other.accountId, name: 'x', content: 'x' })
  const [row] = await service.sql`
    insert into attachments (account_id, file_name, content) values (${other.accountId}, 'x', 'x') returning id`
  refused(t, await call(base, { headers: key, body: { ...body, templateId: template.id } }), [400, 118])
  refused(t, await call(base, { headers: key, body: { ...body, attachmentId: row?.id } }), [400, 119])
})

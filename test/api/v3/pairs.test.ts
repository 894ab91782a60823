import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { type AskOptions, ask, type Complaint, complaintsOf } from './ask.ts'
import { type Fields, mailBody } from './mail.ts'

/** The contract's pairs of mail/send, P1 to P28, as they stand there; P29 to P50 are proved where their operations are. */
const service = await makeService(t)
const url = await service.openApi()
const sender = await service.makeSender()
const to = [{ email: 'ada@example.org' }]

function send(extra: Fields, more: Partial<AskOptions> = {}) {
  return ask(url, { path: '/mail/send', key: sender.apiKey, body: mailBody(sender, extra), ...more })
}

const ACCEPTED: readonly (readonly [pair: string, extra: Fields])[] = [
  ['P1', {}],
  [
    'P2',
    {
      personalizations: [
        {
          to: [{ email: 'ada@example.org', name: 'Ada L' }],
          cc: [{ email: 'bob@example.org' }],
          bcc: [{ email: 'audit@shop.example' }],
          custom_args: { order: '4711' },
        },
      ],
      reply_to: { email: 'help@shop.example' },
      content: [
        { type: 'text/plain', value: 'Thanks' },
        { type: 'text/html', value: '<p>Thanks</p>' },
      ],
      categories: ['receipts'],
      custom_args: { tenant: 'eu' },
    },
  ],
  ['P7', { personalizations: [{ to }, { to }] }],
  ['P19', { template_id: '13b8f94f-bcae-4ec6-b752-70d6cb59f932' }],
]

for (const [pair, extra] of ACCEPTED) {
  t.test(`${pair} is accepted`, async (t) => {
    const { status, text, headers } = await send(extra)
    t.equal(status, 202, text)
    t.equal(text, '')
    t.match(headers['x-message-id'], /^[\w-]{22}$/)
    t.equal(headers['content-length'], '0')
    t.notOk('x-ratelimit-limit' in headers)
  })
}

t.test('P3: what is only to be looked at gets 200, with nothing in it', async (t) => {
  const { status, text } = await send({ mail_settings: { sandbox_mode: { enable: true } } })
  t.strictSame([status, text], [200, ''])
})

const file = (more: Fields): Fields => ({ attachments: [{ content: 'aGVsbG8=', filename: 'a.txt', ...more }] })
const one = (more: Fields): Fields => ({ personalizations: [{ to, ...more }] })
const D = 'd-5f3b2c1a9e8d4f7ab6c5d4e3f2a1b0c9'

/** Each with its field, its message or the beginning of it, and the end of its help link. */
const REFUSED: readonly (readonly [string, Fields, string | null, string | RegExp, string | null])[] = [
  [
    'P5',
    { personalizations: [{ to: [{ email: 'ada-at-example' }] }] },
    'personalizations.0.to.0.email',
    'Does not contain a valid address.',
    '#message.personalizations.to',
  ],
  [
    'P6',
    { personalizations: [{ to: [{ email: 'Ada@example.org' }], bcc: to }] },
    'personalizations.0',
    /We found the first duplicate instance of \[ada@example\.org\] in the personalizations\.0\.bcc field\.$/,
    '#message.recipient-errors',
  ],
  [
    'P8',
    { content: ['html', 'plain'].map((kind) => ({ type: `text/${kind}`, value: 'x' })) },
    'content',
    /^Following RFC 1341, section 7\.2, /,
    null,
  ],
  [
    'P9',
    one({ headers: { 'Reply-To': 'x@y.example' } }),
    'personalizations.0.headers.Reply-To',
    'Header can not be one of the reserved keys. Refer to documentation link.',
    '#message.personalizations.headers',
  ],
  ['P10', { custom_args: { order: 4711 } }, null, 'Bad Request', null],
  [
    'P11',
    file({ content: 'aGVs\r\nbG8=' }),
    'attachments.0.content',
    'The attachment content must be base64 encoded.',
    '#message.attachments.content',
  ],
  [
    'P12',
    file({ disposition: 'inline' }),
    'attachments.0.content_id',
    "The content_id parameter is required if disposition = 'inline'.",
    '#message.attachments.content_id',
  ],
  [
    'P13',
    { send_at: Math.floor(Date.now() / 1000) + 80 * 3600 },
    'send_at',
    'Scheduling more than 72 hours in advance is forbidden.',
    '#message.send_at',
  ],
  [
    'P14',
    { categories: Array.from({ length: 11 }, (_, at) => `c${at}`) },
    'categories',
    'There is a limit of 10 categories for each email that is sent. You provided 11 categories.',
    '#message.categories',
  ],
  [
    'P15',
    { mail_settings: { bypass_list_management: { enable: false }, bypass_spam_management: { enable: true } } },
    'mail_settings.bypass_list_management',
    /^bypass_list_management is mutually exclusive with /,
    '#message.mail_settings.bypass_list_management',
  ],
  [
    'P17',
    { ...one({ substitutions: { '-name-': 'Ada' } }), template_id: D },
    'personalizations.0.substitutions',
    'Substitutions may not be used with dynamic templating',
    '#message.personalizations.substitutions',
  ],
  [
    'P18',
    { template_id: 'welcome' },
    'template_id',
    "The template_id must be a valid GUID, you provided 'welcome'.",
    '#message.template_id',
  ],
]

for (const [pair, extra, field, message, help] of REFUSED) {
  t.test(`${pair} is refused by its field and sentence`, async (t) => {
    const answer = await send(extra)
    t.equal(answer.status, 400, answer.text)
    const [complaint, ...others] = complaintsOf(answer)
    t.strictSame(others, [], answer.text)
    t.strictSame(Object.keys(complaint ?? {}).sort(), ['field', 'help', 'message'])
    t.equal(complaint?.field, field)
    if (typeof message === 'string') t.equal(complaint?.message, message)
    else t.match(complaint?.message, message)
    if (help === null) t.equal(complaint?.help, null)
    else t.ok(complaint?.help?.endsWith(help), `${complaint?.help}`)
  })
}

t.test('P4: an empty object is told all that it lacks, in order', async (t) => {
  const answer = await ask(url, { path: '/mail/send', key: sender.apiKey, body: {} })
  t.equal(answer.status, 400)
  t.strictSame(
    complaintsOf(answer).map(({ field }: Complaint) => field),
    ['from.email', 'personalizations', 'content'],
  )
})

t.test('P21 to P28: what is wrong with the call itself', async (t) => {
  const body = mailBody(sender)
  const type = (value: string) => ({ 'content-type': value })
  for (const [pair, options, status, message, field] of [
    ['P21', { path: '/mail/send', body }, 401, 'Permission denied, wrong credentials', null],
    ['P21', { path: '/stats', method: 'GET' }, 401, 'authorization required', null],
    [
      'P22',
      { path: '/mail/send', key: 'nope', body },
      401,
      'The provided authorization grant is invalid, expired, or revoked',
      null,
    ],
    [
      'P23',
      { path: '/mail/send', key: sender.apiKey, body: { ...body, from: { email: 'a@other.example' } } },
      403,
      /^The from address does not match a verified Sender Identity\. /,
      'from',
    ],
    [
      'P24',
      { path: '/mail/send', key: sender.apiKey, body, headers: type('text/plain') },
      415,
      'Content-Type should be application/json.',
      null,
    ],
    ['P26', { path: '/mail/send', key: sender.apiKey, body: '{"from":' }, 400, 'Bad Request', null],
    ['P27', { path: '/mail/send', key: sender.apiKey, method: 'GET' }, 405, 'POST method allowed only', null],
    [
      'P28',
      { path: '/mail/send', key: sender.apiKey, body: { ...body, subject: 'x'.repeat(40_000_000) } },
      413,
      'The request body is too large. Messages are limited to 30 MB.',
      null,
    ],
  ] as const) {
    const answer = await ask(url, options as AskOptions)
    t.equal(answer.status, status, pair)
    const [complaint, ...others] = complaintsOf(answer)
    t.strictSame([complaint?.field, complaint?.help, others], [field, null, []], pair)
    if (typeof message === 'string') t.equal(complaint?.message, message, pair)
    else t.match(complaint?.message, message, pair)
    if (pair === 'P27') t.match(answer.headers.allow, /POST/)
  }
  const said = await send({}, { headers: type('application/json; charset=utf-8') })
  t.equal(said.status, 202, 'P25')
})

t.test('P47: a key can list what it may do', async (t) => {
  const { status, json } = await ask(url, { path: '/scopes', method: 'GET', key: sender.apiKey })
  t.equal(status, 200)
  const scopes = (json?.scopes ?? []) as string[]
  for (const right of [
    'mail.send',
    'mail.batch.create',
    'templates.read',
    'templates.create',
    'templates.versions.create',
    'stats.read',
    'categories.read',
    'asm.groups.read',
  ]) {
    t.ok(scopes.includes(right), right)
  }
})

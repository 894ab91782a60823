import { JSON_TYPE } from '../call.ts'
import type { Recorder } from './recorder.ts'
import type { Owner, World } from './world.ts'

type Fields = Record<string, unknown>

const LENA = 'lena@harbor.example'
const DYNAMIC = 'd-5f3b2c1a9e8d4f7ab6c5d4e3f2a1b0c9'
const LEGACY = '13b8f94f-bcae-4ec6-b752-70d6cb59f932'
const LONG = `${'x'.repeat(310)}@harbor.example`
/** Seconds of a time in 2096. */
const TOO_FAR = 4_000_000_000

const toLena = (more: Fields): Fields => ({ personalizations: [{ to: [{ email: LENA }], ...more }] })
const many = (count: number) => Array.from({ length: count }, (_, at) => ({ email: `r${at}@harbor.example` }))
const file = (more: Fields): Fields => ({ attachments: [{ content: 'aGVsbG8=', filename: 'a.txt', ...more }] })
const each = (name: string, values: readonly unknown[], make: (value: unknown) => Fields): [string, Fields][] =>
  values.map((value) => [`${name} ${value === undefined ? 'left out' : JSON.stringify(value)}`, make(value)])

/** What is put over the least a mail needs; undefined: left out. */
const MAILS: readonly (readonly [title: string, over: Fields])[] = [
  ['a mail', {}],
  [
    'a copy, a blind copy and names',
    toLena({ cc: [{ email: 'c@a.example', name: 'C' }], bcc: [{ email: 'b@a.example' }] }),
  ],
  [
    'categories, arguments and a time in the past',
    { categories: ['a'], custom_args: { order: '7' }, send_at: 1_772_697_600 },
  ],
  ['a file', file({ type: 'text/plain', disposition: 'inline', content_id: 'a' })],
  ['the sandbox', { mail_settings: { sandbox_mode: { enable: true } } }],
  ['an unknown dynamic template', { template_id: DYNAMIC, content: undefined }],
  ['an unknown legacy template', { template_id: LEGACY, content: undefined }],
  ['many mistakes at once', { personalizations: [{ to: [] }], from: {}, subject: '', content: [], send_at: 'a' }],
  ['a field nobody knows', { colour: 'red' }],
  ...each('personalizations', [undefined, null, [], {}, 'a', ['a']], (personalizations) => ({ personalizations })),
  ['1001 personalizations', { personalizations: many(1001).map((to) => ({ to: [to] })) }],
  ['1001 recipients', toLena({ to: many(900), cc: [{ email: 'cc@a.example' }], bcc: many(1000).slice(900) })],
  ...each('to', [undefined, null, [], {}, ['a']], (to) => ({ personalizations: [{ to }] })),
  ...each('the address', [undefined, 'nobody', '', 7, {}, LONG], (email) => toLena({ to: [{ email }] })),
  ...each('the name', [7, 'a\r\nb'], (name) => toLena({ to: [{ email: LENA, name }] })),
  ['no addresses in cc and bcc', toLena({ cc: [{ email: 'x' }], bcc: [{ email: 'y' }] })],
  ['an address twice', toLena({ cc: [{ email: LENA.toUpperCase() }] })],
  ['a sender of another domain', toLena({ from: { email: 'desk@other.example' } })],
  ...each('the subject', [undefined, '', 5], (subject) => ({ subject })),
  ...each('the subject of one', ['', 5], (subject) => toLena({ subject })),
  ...each('the header', [7, 'a\r\nb', 'a\0b'], (value) => ({ headers: { 'X-A': value } })),
  ...each('the header name', ['X Ä', 'X:', '', 'To', 'x-sg-id'], (name) => ({ headers: { [String(name)]: 'x' } })),
  ...each('headers', ['a', []], (headers) => ({ headers })),
  ['a header twice', { headers: { 'X-A': '1', 'x-a': '2' } }],
  ...each('custom_args', [{}, { order: 7 }, 'a', { a: 'x'.repeat(10_000) }], (custom_args) => ({ custom_args })),
  ...each('custom_args of one', [{}, { order: null }], (custom_args) => toLena({ custom_args })),
  ...each('send_at', ['1772445600', 1.5, true, TOO_FAR, -1], (send_at) => ({ send_at })),
  ...each('send_at of one', ['a', TOO_FAR], (send_at) => toLena({ send_at })),
  ...each('substitutions', [{ a: 7 }, 'a', { a: 'é'.repeat(5000) }], (substitutions) => toLena({ substitutions })),
  [
    '10,001 substitutions',
    toLena({ substitutions: Object.fromEntries(many(10_001).map((_, at) => [String(at), ''])) }),
  ],
  ['substitutions with a dynamic template', { template_id: DYNAMIC, ...toLena({ substitutions: { a: 'b' } }) }],
  ['template data without a template', toLena({ dynamic_template_data: { a: 1 } })],
  ['template data with a legacy template', { template_id: LEGACY, ...toLena({ dynamic_template_data: { a: 1 } }) }],
  ...each('the template', ['welcome', '', 12], (template_id) => ({ template_id })),
  ...each('content', [undefined, null, [], {}, 'a', ['a']], (content) => ({ content })),
  ...each('the type of content', [undefined, '', 5, 'text/html\r\n', 'text/html; charset=utf-8'], (type) => ({
    content: [{ type, value: 'x' }],
  })),
  ...each('the value of content', [undefined, '', 5], (value) => ({ content: [{ type: 'text/plain', value }] })),
  ...each(
    'the types',
    [
      ['text/html', 'text/plain'],
      ['text/plain', 'text/plain'],
    ],
    (types) => ({
      content: (types as string[]).map((type) => ({ type, value: 'x' })),
    }),
  ),
  ...each('from', [undefined, null, {}, [], 'a', { name: 'Desk' }], (from) => ({ from })),
  ...each('the sender', ['', 'desk', 5, LONG, 'desk@unknown.example', 'desk@pending3.example'], (email) => ({
    from: { email },
  })),
  ...each('reply_to', [{}, { email: 'help' }, { email: LONG }, [], 'a'], (reply_to) => ({ reply_to })),
  ...each('reply_to_list', [[{}], [{ email: 'help' }], {}, ['a'], [{ email: LENA }, { email: LENA }]], (list) => ({
    reply_to_list: list,
  })),
  ['reply_to beside reply_to_list', { reply_to: { email: LENA }, reply_to_list: [{ email: LENA }] }],
  ['1001 reply addresses', { reply_to_list: many(1001) }],
  ...each('attachments', ['a', {}, ['a']], (attachments) => ({ attachments })),
  ...each('the file', [undefined, '', 5, '!!!', '===='], (content) => file({ content })),
  ...each('the file name', [undefined, '', 5, 'a;b', 'a\nb'], (filename) => file({ filename })),
  ...each('the file type', ['', 5, 'a\nb', 'text/plain; charset=utf-8'], (type) => file({ type })),
  ...each('the disposition', ['INLINE', '', 5], (disposition) => file({ disposition })),
  ...each('the content id', [undefined, 5, 'a;b'], (content_id) => file({ disposition: 'inline', content_id })),
  ...each('the group', [undefined, '12', 1.5, 0, 77], (group_id) => ({ asm: { group_id } })),
  ...each('asm', ['a', []], (asm) => ({ asm })),
  ...each('the groups', ['1', ['1'], many(26).map((_, at) => at + 1)], (groups_to_display) => ({
    asm: { group_id: 1, groups_to_display },
  })),
  ...each('the batch', [5, 'unknown'], (batch_id) => ({ batch_id })),
  ...each('the pool', [5, 'a'], (ip_pool_name) => ({ ip_pool_name })),
  ...each(
    'the categories',
    ['a', ['a', 5], {}, ['a', 'b', 'a'], ['reçus'], many(11).map((_, at) => `c${at}`)],
    (categories) => ({
      categories,
    }),
  ),
  ['a long category', { categories: ['x'.repeat(256)] }],
  ...each('sections', [{ ':a:': 5 }, 'a'], (sections) => ({ sections })),
  ...['bypass_list_management', 'bypass_spam_management', 'footer', 'sandbox_mode'].flatMap((name) =>
    each(name, ['a', { enable: 'true' }], (value) => ({ mail_settings: { [name]: value } })),
  ),
  [
    'two that exclude each other',
    { mail_settings: { bypass_list_management: { enable: true }, bypass_spam_management: { enable: true } } },
  ],
  ...each('the footer', [{ text: 5 }, { html: 5 }], (footer) => ({
    mail_settings: { footer: { enable: true, ...Object(footer) } },
  })),
  ...['click_tracking', 'open_tracking', 'subscription_tracking', 'ganalytics'].flatMap((name) =>
    each(name, ['a', { enable: 'true' }, { enable: true, html: 5, substitution_tag: 5, utm_source: 5 }], (value) => ({
      tracking_settings: { [name]: value },
    })),
  ),
  ...each('tracking_settings', ['a', []], (tracking_settings) => ({ tracking_settings })),
]

const BODIES: readonly (readonly [title: string, headers: Record<string, string>, body: string])[] = [
  ['no body', JSON_TYPE, ''],
  ['{}', JSON_TYPE, '{}'],
  ['an array', JSON_TYPE, '[]'],
  ['null', JSON_TYPE, 'null'],
  ['half an object', JSON_TYPE, '{"subject":'],
  ['a key twice', JSON_TYPE, '{"subject":"a","subject":"b"}'],
  ['a deep array', JSON_TYPE, `{"a":${'['.repeat(200)}${']'.repeat(200)}}`],
  ['a lone surrogate', JSON_TYPE, '{"subject":"\\ud800"}'],
  ['no content type', {}, '{}'],
  ['text', { 'content-type': 'text/plain' }, 'hello'],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'a=b'],
  ['another charset', { 'content-type': 'application/json; charset=latin1' }, '{}'],
  ['gzip that is none', { ...JSON_TYPE, 'content-encoding': 'gzip' }, 'hello'],
  ['an unknown encoding', { ...JSON_TYPE, 'content-encoding': 'br2' }, '{}'],
]

/** POST /v3/mail/send: mails, each mistake alone, keys and bodies. */
export async function recordV3Mail(recorder: Recorder, world: World): Promise<void> {
  const owner = await world.makeOwner('v3-mail')
  const bearer = { authorization: `Bearer ${owner.key}` }
  const path = '/v3/mail/send'
  const body = v3MessageFrom(owner)
  const ask = (title: string, headers: Record<string, string>, body: Fields | string) =>
    recorder.ask(`sendMail: ${title}`, { path, headers, body })
  await recorder.ask('addDomain: one that stays pending', {
    path: '/v2/domain',
    headers: { api_key: owner.key },
    body: { domain: 'pending3.example' },
  })
  for (const [title, over] of MAILS) await ask(title, { ...bearer, ...JSON_TYPE }, { ...body, ...over })
  await ask('a time', { ...bearer, ...JSON_TYPE }, { ...body, send_at: world.inAnHour })
  for (const [title, headers, text] of BODIES) await ask(title, { ...bearer, ...headers }, text)
  for (const title of ['an Idempotency-Key', 'an Idempotency-Key again']) {
    await ask(title, { ...bearer, ...JSON_TYPE, 'idempotency-key': 'first' }, body)
  }
  await ask(
    'an Idempotency-Key with another mail',
    { ...bearer, ...JSON_TYPE, 'idempotency-key': 'first' },
    {
      ...body,
      subject: 'Other',
    },
  )
  await ask('a long Idempotency-Key', { ...bearer, ...JSON_TYPE, 'idempotency-key': 'x'.repeat(300) }, body)
  await ask('on behalf of nobody', { ...bearer, ...JSON_TYPE, 'on-behalf-of': 'nobody' }, body)
  await ask('no key', JSON_TYPE, body)
  await ask('an unknown key', { ...JSON_TYPE, authorization: 'Bearer nope' }, body)
  await recordKeys(recorder, world, owner)
  for (const method of ['GET', 'PUT', 'OPTIONS', 'PROPFIND'])
    await recorder.ask(`sendMail: ${method}`, { method, path })
}

/** Keys that may not do everything, and accounts that may not send. */
async function recordKeys(recorder: Recorder, { service: { core }, makeOwner }: World, owner: Owner): Promise<void> {
  const path = '/v3/mail/send'
  for (const scopes of [['templates.read'], ['mail.send']]) {
    const { json } = await recorder.ask(`createKey: ${scopes}`, {
      path: '/v3/api_keys',
      headers: { authorization: `Bearer ${owner.key}`, ...JSON_TYPE },
      body: { name: 'some', scopes },
    })
    const headers = { authorization: `Bearer ${json?.api_key}`, ...JSON_TYPE }
    await recorder.ask(`sendMail: a key for ${scopes}`, { path, headers, body: v3MessageFrom(owner) })
    await recorder.ask(`createTemplate: a key for ${scopes}`, { path: '/v3/templates', headers, body: { name: 'a' } })
    await recorder.ask(`listScopes: a key for ${scopes}`, { method: 'GET', path: '/v3/scopes', headers })
  }
  const [late, idle, poor] = [await makeOwner('late3'), await makeOwner('idle3'), await makeOwner('poor3')]
  await core.accounts.expire(late.accountId, null)
  await core.accounts.suspend(idle.accountId)
  await core.credits.limit(poor.accountId, 0)
  for (const one of [late, idle, poor]) {
    const headers = { authorization: `Bearer ${one.key}`, ...JSON_TYPE }
    await recorder.ask(`sendMail: from ${one.domain}`, { path, headers, body: v3MessageFrom(one) })
  }
}

export function v3MessageFrom({ domain }: Pick<Owner, 'domain'>): Fields {
  return {
    personalizations: [{ to: [{ email: LENA }] }],
    from: { email: `desk@${domain}` },
    subject: 'Berth 4',
    content: [{ type: 'text/plain', value: 'Your berth is ready.' }],
  }
}

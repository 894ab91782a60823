import { asForm, type CallAnswer, FORM, JSON_TYPE } from '../call.ts'
import type { Recorder } from './recorder.ts'
import type { Owner, World } from './world.ts'

type Fields = Record<string, unknown>

const FILE = { fileName: 'plan.txt', fileContent: 'UGxhbg==' }
const LENA = 'lena@harbor.example'

/** What is put over the least a message needs; undefined: left out. */
const MESSAGES: readonly (readonly [title: string, over: Fields])[] = [
  ['a message', {}],
  [
    'a copy and a blind copy',
    { personalizations: [{ recipient: LENA, recipient_cc: ['c@a.example'], recipient_bcc: 'b@a.example' }] },
  ],
  [
    'attributes',
    { subject: 'Hi [%NAME%]', personalizations: [{ recipient: LENA, attributes: { NAME: 'Lena', AGE: 7 } }] },
  ],
  [
    'a file, tags, a reference and settings',
    { attachments: [FILE], tags: 'a,b', settings: { footer: 1, clicktrack: 0 } },
  ],
  ['a recipient that is no address', { personalizations: [{ recipient: 'nobody' }] }],
  ['a text only', { content: undefined, textcontent: 'Ready.' }],
  ['a schedule in the past', { schedule: '2026-03-05T08:00:00Z' }],
  ['no personalizations', { personalizations: undefined }],
  ['empty personalizations', { personalizations: [] }],
  ['personalizations as object', { personalizations: { recipient: LENA } }],
  ['personalizations as text', { personalizations: LENA }],
  ['personalizations null', { personalizations: null }],
  ['a personalization as text', { personalizations: [LENA] }],
  ['a blank recipient', { personalizations: [{ recipient: '' }] }],
  ['a recipient as number', { personalizations: [{ recipient: 7 }] }],
  ['a recipient as array', { personalizations: [{ recipient: [LENA] }] }],
  ['a copy as object', { personalizations: [{ recipient: LENA, recipient_cc: { a: 1 } }] }],
  ['a long reference', { personalizations: [{ recipient: LENA, 'x-apiheader': 'x'.repeat(256) }] }],
  ['attributes as text', { personalizations: [{ recipient: LENA, attributes: 'NAME' }] }],
  ['an attribute as object', { personalizations: [{ recipient: LENA, attributes: { NAME: { a: 1 } } }] }],
  [
    'a header with a line end',
    { personalizations: [{ recipient: LENA, 'x-headers': { 'X-A': 'a\r\nBcc: spy@a.example' } }] },
  ],
  ['a reserved header', { personalizations: [{ recipient: LENA, 'x-headers': { 'DKIM-Signature': 'a' } }] }],
  ['a header whose name is none', { personalizations: [{ recipient: LENA, 'x-headers': { 'X A': 'a' } }] }],
  [
    'a header from an attribute that breaks it',
    {
      subject: '[%N%]',
      personalizations: [{ recipient: LENA, attributes: { N: 'a\r\nb' }, 'x-headers': { 'X-A': '[%N%]' } }],
    },
  ],
  ['no from', { from: undefined }],
  ['from null', { from: null }],
  ['from as text', { from: 'desk@v2-mail.example' }],
  ['from without an address', { from: { fromName: 'Desk' } }],
  ['a blank sender', { from: { fromEmail: ' ' } }],
  ['a sender as number', { from: { fromEmail: 5 } }],
  ['a sender that is no address', { from: { fromEmail: 'desk' } }],
  ['a sender with its name', { from: { fromEmail: 'Desk <desk@v2-mail.example>' } }],
  ['a sender of an unknown domain', { from: { fromEmail: 'desk@unknown.example' } }],
  ['a sender of a subdomain', { from: { fromEmail: 'desk@x.v2-mail.example' } }],
  ['a sender of a pending domain', { from: { fromEmail: 'desk@pending.example' } }],
  ['a sender name with a line end', { from: { fromEmail: 'desk@v2-mail.example', fromName: 'a\r\nb' } }],
  ['no subject', { subject: undefined }],
  ['a blank subject', { subject: ' ' }],
  ['a subject as number', { subject: 5 }],
  ['a subject with a line end', { subject: 'a\r\nBcc: spy@a.example' }],
  ['a long subject', { subject: 'x'.repeat(2000) }],
  ['no content', { content: undefined }],
  ['a content of blanks', { content: '%20%0A' }],
  ['a content as object', { content: { html: 'x' } }],
  ['AMP alone', { content: undefined, ampcontent: '<html amp4email>' }],
  ['an unknown template', { templateId: 999_999 }],
  ['a template as text', { templateId: 'berth' }],
  ['a template as object', { templateId: { id: 1 } }],
  ['an unknown file', { attachmentId: '77' }],
  ['a file number that is none', { attachmentId: '1 or 1=1' }],
  ['files as object', { attachments: FILE }],
  ['a file without a name', { attachments: [{ fileContent: 'UGxhbg==' }] }],
  ['a file without a content', { attachments: [{ fileName: 'plan.txt' }] }],
  ['a file that is no base64', { attachments: [{ ...FILE, fileContent: '!!!' }] }],
  ['a file name with a line end', { attachments: [{ ...FILE, fileName: 'a\r\nb' }] }],
  ['settings as text', { settings: 'footer' }],
  ['a setting as text', { settings: { footer: 'perhaps' } }],
  ['a blind copy that is no address', { settings: { bcc: 'nobody' } }],
  ['an unknown group', { settings: { group: 77 } }],
  ['an unknown TLS level', { settings: { tls: 'always' } }],
  ['a group as text', { settings: { group: 'news' } }],
  ['tags as object', { tags: { a: 1 } }],
  ['too many tags', { tags: Array.from({ length: 60 }, (_, at) => `t${at}`) }],
  ['a long tag', { tags: 'x'.repeat(300) }],
  ['a reply address that is none', { replyToId: 'nobody' }],
  ['a reply address as number', { replyToId: 5 }],
  ['a schedule that is no time', { schedule: 'tomorrow' }],
  ['a schedule too far ahead', { schedule: '2096-03-05T08:00:00Z' }],
  ['a NUL', { subject: 'a\0b' }],
  ['a field nobody knows', { colour: 'red' }],
]

/** Bodies that are not JSON objects or forms. */
const BODIES: readonly (readonly [title: string, headers: Record<string, string>, body: string])[] = [
  ['no body', {}, ''],
  ['blanks', JSON_TYPE, ' \r\n'],
  ['{}', JSON_TYPE, '{}'],
  ['an array', JSON_TYPE, '[]'],
  ['a text', JSON_TYPE, '"a"'],
  ['half an object', JSON_TYPE, '{"subject":'],
  ['a key twice', JSON_TYPE, '{"subject":"a","subject":"b"}'],
  ['a deep array', JSON_TYPE, `{"a":${'['.repeat(200)}${']'.repeat(200)}}`],
  ['a lone surrogate', JSON_TYPE, '{"subject":"\\ud800"}'],
  ['an empty form', FORM, ''],
  ['a form with {}', FORM, 'data=%7B%7D'],
  ['a form with half an object', FORM, 'data=%7B'],
  ['a form that is not percent-encoded well', FORM, 'subject=%ff'],
  ['a form with a place that is none', FORM, 'personalizations[x][recipient]=lena@harbor.example'],
  ['a multipart form without a boundary', { 'content-type': 'multipart/form-data' }, 'x'],
  [
    'a multipart form that does not end',
    { 'content-type': 'multipart/form-data; boundary=b' },
    '--b\r\nContent-Disposition: form-data; name="subject"\r\n\r\nS',
  ],
  ['text', { 'content-type': 'text/plain' }, 'hello'],
  ['XML', { 'content-type': 'application/xml' }, '<a/>'],
  ['gzip that is none', { ...JSON_TYPE, 'content-encoding': 'gzip' }, 'hello'],
  ['an unknown encoding', { ...JSON_TYPE, 'content-encoding': 'br2' }, '{}'],
]

/** POST /v2/sendEmail: messages, each mistake alone, keys and bodies. */
export async function recordV2Mail(recorder: Recorder, world: World): Promise<void> {
  const owner = await world.makeOwner('v2-mail')
  const body = messageFrom(owner)
  const ask = (title: string, headers: Record<string, string>, body: Fields | string) =>
    recorder.ask(`sendEmail: ${title}`, { path: '/v2/sendEmail', headers: { api_key: owner.key, ...headers }, body })
  await recorder.ask('addDomain: one that stays pending', {
    path: '/v2/domain',
    headers: { api_key: owner.key },
    body: { domain: 'pending.example' },
  })
  for (const [title, over] of MESSAGES) {
    await ask(title, JSON_TYPE, { ...body, ...over })
    await ask(`${title}, as a form`, FORM, asForm({ ...body, ...over }))
  }
  await ask('a schedule', JSON_TYPE, { ...body, schedule: world.inAnHour })
  for (const [title, headers, text] of BODIES) await ask(title, headers, text)
  await ask('an Idempotency-Key', { ...JSON_TYPE, 'idempotency-key': 'first' }, body)
  await ask('an Idempotency-Key again', { ...JSON_TYPE, 'idempotency-key': 'first' }, body)
  await ask(
    'an Idempotency-Key with another message',
    { ...JSON_TYPE, 'idempotency-key': 'first' },
    { ...body, tags: 'x' },
  )
  await ask('a long Idempotency-Key', { ...JSON_TYPE, 'idempotency-key': 'x'.repeat(300) }, body)
  await ask('on behalf of nobody', { ...JSON_TYPE, 'on-behalf-of': 'nobody' }, body)
  await ask('an unknown key', { api_key: 'nope' }, body)
  await ask('an empty key', { api_key: '' }, body)
  await recorder.ask('sendEmail: no key', { path: '/v2/sendEmail', headers: JSON_TYPE, body })
  await recordKeys(recorder, ask, world, owner)
  for (const method of ['GET', 'PUT', 'OPTIONS', 'PROPFIND']) {
    await recorder.ask(`sendEmail: ${method}`, { method, path: '/v2/sendEmail' })
  }
  for (const path of ['/v2/sendemail', '/v2.1/sendEmail', '/v2/sendEmail/']) {
    await recorder.ask(`sendEmail: as ${path}`, { path, headers: { api_key: owner.key }, body })
  }
  for (const path of ['/v2', '/v2/', '/v2/nowhere', '/v2/sendEmail/x', '/v2/%ff', '/v1/sendEmail', '/']) {
    await recorder.ask(`no path: ${path}`, { path, headers: { api_key: owner.key }, body })
  }
}

type Ask = (title: string, headers: Record<string, string>, body: Fields) => Promise<CallAnswer>

const KEYS: Readonly<Record<string, Fields>> = {
  'a key without the scope': { scopes: ['stats'] },
  'a key for another address': { networks: ['192.0.2.0/24'] },
  'a key for another sender': { restrictions: { sender_domains: ['v2-mail.example'], until: '2020-01-01T00:00:00Z' } },
  'a key for other recipients': { restrictions: { recipient_domains: ['other.example'] } },
  'a key for templates': { restrictions: { templates: [1] } },
  'a key for one recipient an hour': { restrictions: { recipients_per_hour: 1 } },
}

/** Keys that may not do everything, and accounts that may not send. */
async function recordKeys(recorder: Recorder, ask: Ask, { service: { core }, makeOwner }: World, owner: Owner) {
  const body = messageFrom(owner)
  for (const [title, more] of Object.entries(KEYS)) {
    const { json } = await recorder.ask(`createKey: ${title}`, {
      path: '/v2/keys',
      headers: { api_key: owner.key },
      body: { name: title, scopes: ['send'], ...more },
    })
    const { api_key = '' } = (json?.data ?? {}) as { api_key?: string }
    for (const time of ['', ' again']) await ask(`${title}${time}`, { api_key }, body)
  }
  const late = await makeOwner('late')
  await core.accounts.expire(late.accountId, null)
  await ask('an expired account', { api_key: late.key }, messageFrom(late))
  const idle = await makeOwner('idle')
  await core.accounts.suspend(idle.accountId)
  await ask('a suspended account', { api_key: idle.key }, messageFrom(idle))
  const poor = await makeOwner('poor')
  await core.credits.limit(poor.accountId, 0)
  await ask('an account without credits', { api_key: poor.key }, messageFrom(poor))
}

export function messageFrom({ domain }: Pick<Owner, 'domain'>): Fields {
  return {
    personalizations: [{ recipient: LENA }],
    from: { fromEmail: `desk@${domain}`, fromName: 'Ship Desk' },
    subject: 'Berth 4',
    content: '<p>Your berth is ready.</p>',
  }
}

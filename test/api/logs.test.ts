import t from 'tap'
import { naughtyStrings, skipWithoutThem } from '../core/naughty-strings.ts'
import { startProcess } from '../helpers/processes.ts'
import { v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { asForm, type CallOptions, call, FORM } from './call.ts'

const service = await makeService(t, { LOG_LEVEL: 'trace', TRUST_PROXY: '127.0.0.9' })
const sender = await service.makeSender()
// Whatever is no JSON line of its own fails the test where it is read (V49).
const api = await startProcess(t, 'api', service.env)
const base = `http://127.0.0.1:${service.config.apiPort}`

/** Every place a call has for something that is nobody's business, each with a word of its own. */
const SECRETS = {
  recipient: 'canary-recipient@harbor.example',
  cc: 'canary-cc@harbor.example',
  bcc: 'canary-bcc@harbor.example',
  replyTo: 'canary-reply@harbor.example',
  fromName: 'canary-name',
  subject: 'canary-subject',
  content: 'canary-content',
  amp: 'canary-amp',
  reference: 'canary-reference',
  attribute: 'canary-attribute',
  header: 'canary-header',
  fileName: 'canary-file-name',
  file: 'canary-file-content',
  tag: 'canary-tag',
  idempotencyKey: 'canary-idempotency-key',
  unknown: 'canary-unknown',
  query: 'canary-query',
  otherKey: 'pr_canarycanarycanarycanarycana000000',
}
const CANARY = /canary/i

function secretBody(extra: Record<string, unknown> = {}): Record<string, unknown> {
  return v2Body(sender, {
    personalizations: [
      {
        recipient: SECRETS.recipient,
        recipient_cc: [SECRETS.cc],
        recipient_bcc: SECRETS.bcc,
        'x-apiheader': SECRETS.reference,
        attributes: { [SECRETS.attribute]: SECRETS.attribute },
        'x-headers': { 'X-Header': SECRETS.header },
      },
    ],
    from: { fromEmail: `canary-desk@${sender.domain}`, fromName: SECRETS.fromName },
    replyToId: SECRETS.replyTo,
    subject: SECRETS.subject,
    content: SECRETS.content,
    ampcontent: SECRETS.amp,
    tags: SECRETS.tag,
    attachments: [{ fileName: SECRETS.fileName, fileContent: btoa(SECRETS.file) }],
    unknown: SECRETS.unknown,
    ...extra,
  })
}
const key = { api_key: sender.apiKey }
const text = JSON.stringify(secretBody())

/** Calls that fail in every way there is, beside one that does not. */
const CALLS: readonly (readonly [options: CallOptions, status: number])[] = [
  [{ headers: key, body: text }, 200],
  [{ headers: { ...key, 'idempotency-key': SECRETS.idempotencyKey }, body: text }, 200],
  [{ headers: { ...key, 'idempotency-key': SECRETS.idempotencyKey }, body: secretBody({ subject: 'canary' }) }, 409],
  [{ headers: { ...key, 'idempotency-key': SECRETS.idempotencyKey.repeat(20) }, body: text }, 400],
  [{ body: text }, 401],
  [{ headers: { api_key: SECRETS.otherKey }, body: text }, 401],
  [{ headers: { authorization: `Bearer ${SECRETS.otherKey}`, cookie: `a=${SECRETS.otherKey}` }, body: text }, 401],
  [{ headers: key, path: `/v2/${SECRETS.query}?x=${SECRETS.query}`, body: text }, 404],
  [{ headers: key, path: `/v2/%zz${SECRETS.query}`, body: text }, 404],
  [{ headers: key, method: 'PUT', path: `/v2/sendEmail?x=${SECRETS.query}`, body: text }, 405],
  [{ headers: key, body: text.slice(0, -1) }, 400],
  [{ headers: key, body: `{"${SECRETS.unknown}":1,"${SECRETS.unknown}":2}` }, 400],
  [{ headers: { ...key, ...FORM }, body: `${asForm(secretBody())}&from=canary` }, 400],
  [{ headers: { ...key, 'content-type': 'multipart/form-data; boundary=canary' }, body: '--canary\r\ncanary' }, 400],
  [{ headers: { ...key, 'content-type': 'canary/canary; canary' }, body: 'canary' }, 400],
  [{ headers: key, body: secretBody({ from: { fromEmail: 'canary@canary.example' } }) }, 400],
  [{ headers: key, body: secretBody({ from: { fromEmail: 'canary' } }) }, 400],
  [{ headers: key, body: secretBody({ subject: 'canary\r\nBcc: canary@harbor.example' }) }, 400],
  [{ headers: key, body: secretBody({ personalizations: 'canary' }) }, 400],
  [{ headers: key, body: secretBody({ personalizations: [{ recipient: ['canary'] }] }) }, 400],
  [{ headers: key, body: secretBody({ personalizations: [{ canary: 'canary' }] }) }, 400],
  [{ headers: key, body: secretBody({ attachments: [{ fileName: 'canary', fileContent: 'canary!' }] }) }, 400],
  [{ headers: key, body: secretBody({ attachments: [{ fileName: '../canary', fileContent: 'YQ==' }] }) }, 400],
  [{ headers: key, body: secretBody({ templateId: 'canary' }) }, 400],
  [{ headers: key, body: secretBody({ attachmentId: 'canary' }) }, 400],
  [{ headers: key, body: secretBody({ settings: { bcc: 'canary', footer: 'canary' } }) }, 400],
  [{ headers: key, body: secretBody({ schedule: 'canary' }) }, 400],
  [{ headers: key, body: secretBody({ replyToId: 'canary' }) }, 400],
  [{ headers: { ...key, 'x-forwarded-for': 'canary' }, from: '127.0.0.9', body: text }, 200],
]

const logged = () => JSON.stringify(api.log)
const refusals = () => api.log.filter(({ msg }) => msg === 'request rejected').length

t.test('calls of every kind leave no key, address, subject, content or query in the log, at any level', async (t) => {
  for (const [options, status] of CALLS)
    t.equal((await call(base, options)).status, status, JSON.stringify(options).slice(0, 200))
  await until('the last refusal in the log', () => logged().includes('parameterInvalid'))
  // The log of the process arrives after its answers.
  await until('the refusals to be logged', () => api.log.length > CALLS.length / 2)
  t.notMatch(logged(), CANARY)
  t.notOk(logged().includes(sender.apiKey))
})

t.test('a fault says nothing to the client, and the log has its place but no values', async (t) => {
  const before = api.log.length
  // Postgres quotes the whole row in the detail of this error, and the driver adds the query with its parameters.
  await service.sql`alter table messages add constraint fault check (subject <> 'canary fault') not valid`
  const answer = await call(base, { headers: key, body: secretBody({ subject: 'canary fault' }) })
  t.equal(answer.status, 500)
  t.strictSame(answer.json, {
    error_info: { error_message: 'Internal error', error_code: 500 },
    message: 'Error in SendEmail api call',
  })
  const fault = await until('the fault', () => api.log.slice(before).find(({ msg }) => msg === 'internal error'))
  t.match(fault, { level: 50, process: 'api', err: { code: '23514', stack: String } })
  t.notMatch(logged(), CANARY)
  t.notOk(logged().includes(sender.apiKey))
  t.equal((await call(base, { headers: key, body: text })).status, 200, 'the process lives')
})

t.test('no string breaks out of its line in the log, or appears in it', skipWithoutThem, async (t) => {
  const marked = naughtyStrings.map((word) => `canary ${word} canary`)
  const before = refusals()
  const taken: number[] = []
  for (const [at, word] of marked.entries()) {
    const { status } = await call(base, {
      headers: key,
      body: secretBody({ subject: word, content: word, schedule: word }),
    })
    // By number: control characters in a message would confuse the readers of test results.
    if (status !== 400) taken.push(at)
  }
  t.strictSame(taken, [])
  await until('the refusals', () => refusals() >= before + marked.length)
  t.notMatch(logged(), CANARY)
})

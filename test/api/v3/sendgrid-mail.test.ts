import { createRequire } from 'node:module'
import { createTransport, type Transport } from 'nodemailer'
import t from 'tap'
import { freePorts } from '../../helpers/ports.ts'
import { startProcess } from '../../helpers/processes.ts'
import { until } from '../../helpers/until.ts'
import { proves } from './conformance/proves.ts'
import { makeMailArrivals } from './mail-arrivals.ts'

/** The official Node clients, as their packages stand; only base URL and key are ours. */
type Fields = Record<string, unknown>
interface ClientAnswer {
  readonly statusCode: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}
interface Client {
  setApiKey(key: string): void
  setDefaultRequest(name: string, value: string): void
  setImpersonateSubuser(name: string): void
  request(request: Fields): Promise<[ClientAnswer, unknown]>
}
interface MailService {
  readonly client: Client
  setApiKey(key: string): void
  setSubstitutionWrappers(left: string, right: string): void
  send(mail: Fields | Fields[], isMultiple?: boolean): Promise<[ClientAnswer, unknown] | [ClientAnswer, unknown][]>
  sendMultiple(mail: Fields): Promise<[ClientAnswer, unknown]>
}
interface Refusal {
  readonly code: number
  readonly response: { readonly body: { readonly errors: readonly { message: string; field: string; help: string }[] } }
}

const require = createRequire(import.meta.url)
// The clients say that the key does not begin like the mirrored service's.
console.warn = () => {}

const { service, sender, sink, copies } = await makeMailArrivals(t)
await service.core.groups.create(sender.accountId, { id: 12, name: 'News', description: 'd', isDefault: false })
const [port] = await freePorts(1)
await startProcess(t, 'api', { ...service.env, API_PORT: String(port) })
const base = `http://127.0.0.1:${port}`

const mailer = require('@sendgrid/mail') as MailService
mailer.setApiKey(sender.apiKey)
mailer.client.setDefaultRequest('baseUrl', base)

const arrived = (answer: ClientAnswer, count = 1) =>
  copies({ status: answer.statusCode, headers: answer.headers, text: '', json: undefined }, count)
const least = { from: `desk@${sender.domain}`, subject: 'Berth 4', text: 'Ready.' }
const refusedBy = (sent: Promise<unknown>): Promise<Refusal> =>
  sent.then(
    () => Promise.reject(new Error('it was accepted')),
    (error) => error,
  )

t.test('@sendgrid/mail sends to one, with copies, files, headers, categories and a time', async (t) => {
  proves(t, 'operation.sendMail')
  const [answer, body] = (await mailer.send({
    ...least,
    from: { email: `desk@${sender.domain}`, name: 'Ship Desk' },
    to: 'lena@harbor.example',
    cc: ['mina@harbor.example'],
    bcc: 'audit@quay.example',
    replyTo: 'help@quay.example',
    html: '<p>Ready.</p>',
    attachments: [{ content: 'aGVsbG8=', filename: 'a.txt', type: 'text/plain', disposition: 'attachment' }],
    headers: { 'X-Order': '4711' },
    categories: ['berths'],
    sendAt: Math.floor(Date.now() / 1000) - 10,
    trackingSettings: { clickTracking: { enable: true, enableText: true }, openTracking: { enable: true } },
    asm: { groupId: 12, groupsToDisplay: [12] },
  })) as [ClientAnswer, unknown]
  t.equal(answer.statusCode, 202)
  t.equal(body, '')
  t.match(answer.headers['x-message-id'], /^[\w-]{22}$/)
  const all = await arrived(answer, 3)
  t.strictSame(
    all.map(({ recipient }) => recipient),
    ['audit@quay.example', 'lena@harbor.example', 'mina@harbor.example'],
  )
  t.match(all[1]?.mail, {
    subject: 'Berth 4',
    html: '<p>Ready.</p>',
    attachments: [{ filename: 'a.txt' }],
    from: { value: [{ name: 'Ship Desk' }] },
    replyTo: { value: [{ address: 'help@quay.example' }] },
  })
  t.match(all[1]?.raw, /\r\nX-Order: 4711\r\n/)
})

t.test('@sendgrid/mail sends to many, each alone, and several mails at once', async (t) => {
  const many = ['lena@harbor.example', 'mina@harbor.example', 'ole@harbor.example']
  const [answer] = await mailer.sendMultiple({ ...least, to: many })
  const all = await arrived(answer, 3)
  t.strictSame(
    all.map(({ mail }) => mail.to?.text),
    many,
  )
  const answers = (await mailer.send(many.map((to) => ({ ...least, to })))) as [ClientAnswer, unknown][]
  t.strictSame(
    answers.map(([{ statusCode }]) => statusCode),
    [202, 202, 202],
  )
})

t.test('@sendgrid/mail tells all that is wrong, by field', async (t) => {
  const error = await refusedBy(mailer.send({ ...least, to: 'not-an-address', categories: ['ä'], text: '' }))
  t.equal(error.code, 400)
  const { errors } = error.response.body
  t.strictSame(
    errors.map(({ field }) => field),
    ['personalizations.0.to.0.email', 'content.0.value', 'categories'],
  )
  for (const { message, help } of errors) t.ok(message !== '' && URL.canParse(help))
  const unverified = await refusedBy(mailer.send({ ...least, to: 'a@harbor.example', from: 'desk@nobody.example' }))
  t.match(unverified, { code: 403, response: { body: { errors: [{ field: 'from', help: null }] } } })
})

t.test('@sendgrid/client calls any path, for itself and for a subaccount, and gets the errors', async (t) => {
  proves(t, 'operation.listScopes')
  const { Client } = require('@sendgrid/client') as { Client: new () => Client }
  const client = new Client()
  client.setApiKey(sender.apiKey)
  client.setDefaultRequest('baseUrl', base)
  const [answer, body] = await client.request({ method: 'GET', url: '/v3/scopes' })
  t.equal(answer.statusCode, 200)
  t.match(body, { scopes: Array })
  t.match(answer.headers, { 'x-ratelimit-limit': /^\d+$/, 'x-ratelimit-reset': /^\d{10}$/ })
  const nowhere = await refusedBy(client.request({ method: 'DELETE', url: '/v3/nowhere' }))
  t.match(nowhere, { code: 404, response: { body: { errors: [{ message: 'resource not found', field: null }] } } })
  client.setImpersonateSubuser('nobody')
  t.match(await refusedBy(client.request({ method: 'GET', url: '/v3/scopes' })), { code: 403 })
})

t.test('nodemailer-sendgrid sends text, HTML, headers and files', async (t) => {
  const makeTransport = require('nodemailer-sendgrid') as (options: { apiKey: string }) => Transport
  const transport = createTransport(makeTransport({ apiKey: sender.apiKey }))
  // It brings an older @sendgrid/mail of its own.
  const { client } = createRequire(require.resolve('nodemailer-sendgrid'))('@sendgrid/mail') as MailService
  client.setDefaultRequest('baseUrl', `${base}/`)
  await transport.sendMail({
    from: `desk@${sender.domain}`,
    to: 'nora@harbor.example',
    subject: 'Berth 5',
    text: 'Ready.',
    html: '<p>Ready.</p>',
    headers: { 'X-Order': '4712' },
    attachments: [{ filename: 'a.txt', content: Buffer.from('hello') }],
  })
  const { data } = await until('its mail', () => sink.messages.find(({ to }) => to.includes('nora@harbor.example')))
  t.match(data.toString(), /\r\nx-order: 4712\r\n/i)
  t.match(data.toString(), /\r\nMessage-ID: <[0-9a-f-]{36}@ship/, 'the id nodemailer gave it')
  t.match(data.toString(), /filename="a\.txt"[\s\S]*aGVsbG8=/)
})

for (const version of ['sendgrid-mail-6', 'sendgrid-mail-7', '@sendgrid/mail']) {
  t.test(`names, a calendar and a group arrive as they were meant, by ${version}`, async (t) => {
    proves(t, 'names-quoted', 'type-parameters', 'asm.group_id')
    const service = require(version) as MailService
    service.setApiKey(sender.apiKey)
    service.client.setDefaultRequest('baseUrl', `${base}/`)
    const [answer] = (await service.send({
      ...least,
      from: { email: `desk@${sender.domain}`, name: 'Desk, Ship' },
      to: { email: 'lena@harbor.example', name: 'Lovelace, Ada' },
      html: '<p>Ready.</p>',
      attachments: [{ content: 'aGVsbG8=', filename: 'invite.ics', type: 'text/calendar; method=REQUEST' }],
      mailSettings: { spamCheck: { enable: true, threshold: 5 }, bcc: { enable: true } },
      asm: { groupId: 12 },
    })) as [ClientAnswer, unknown]
    t.equal(answer.statusCode, 202)
    const [copy] = await arrived(answer)
    const { from, to } = copy?.mail ?? {}
    t.strictSame(
      [from, to].flatMap((list) => list?.value.map(({ name }) => name)),
      ['Desk, Ship', 'Lovelace, Ada'],
    )
    t.match(copy?.raw, /\r\nContent-Type: text\/calendar; method=REQUEST;\r\n name="invite\.ics"\r\n/)
    t.match(copy?.raw, /\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n/)
    t.match(copy?.mail.html, /Unsubscribe From This List/)
  })
}

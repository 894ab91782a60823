import { createRequire } from 'node:module'
import t from 'tap'
import { freePorts } from '../../helpers/ports.ts'
import { startProcess } from '../../helpers/processes.ts'
import type { V2Answer } from '../../helpers/send.ts'
import { type Copy, headerLines, makeArrivals } from '../arrivals.ts'

type Fields = Record<string, unknown>
type Model = new (fields?: Fields) => Fields

/** The official client of the v2 API, as its package stands; it brings no types. */
interface Sdk {
  readonly Configuration: { BASEURI: string }
  readonly EmailController: {
    /** Answers the parsed body of a success, the text of any other answer, and rejects on 405 alone. */
    createSendEmail(
      apiKey: string | undefined,
      body: Fields,
      url: string,
      callback?: (error: unknown, answer: unknown, context: { response: { statusCode: number } }) => void,
    ): Promise<V2Answer['body'] | string>
  }
  readonly EmailBody: Model
  readonly Personalizations: Model
  readonly Attachments: Model
  readonly EmailBodyAttachments: Model
  readonly Attribute: Model
  readonly Xheaders: Model
  readonly From: Model
  readonly Settings: Model
}
const sdk = createRequire(import.meta.url)('pepipost') as Sdk
const { createSendEmail } = sdk.EmailController

const { service, sender, copies, story } = await makeArrivals(t)
const [port] = await freePorts(1)
await startProcess(t, 'api', { ...service.env, API_PORT: String(port) })
sdk.Configuration.BASEURI = `http://127.0.0.1:${port}`

/** The body as the package's own example fills it in, step by step. */
function exampleBody(): Fields {
  const to = new sdk.Personalizations()
  to.recipient = 'lena@harbor.example'
  to.recipientCc = 'ops@harbor.example'
  to.recipientBcc = 'audit@quay.example'
  to.xApiheader = '12'
  to.xApiheaderCc = '123'
  to.attributes = new sdk.Attribute({ name: 'Jon Doe 1', id: '123543', grad: 'BE' })
  to.xheaders = new sdk.Xheaders({ 'x-name': 'John 2', 'x-id': '75896', 'x-grad': 'BE(comp)' })
  const file = new sdk.Attachments()
  file.fileContent = 'SGVsbG8gRm9sa3MsIFRoaXMgaXMgUGVwaXBvc3QncyBub2RlSlMgU0RL'
  file.fileName = 'filename.txt'
  to.attachments = [file]
  const body = new sdk.EmailBody()
  body.personalizations = [to]
  body.tags = 'tagsTransnodejs'
  const from = new sdk.From()
  from.fromEmail = `info@${sender.domain}`
  from.fromName = 'Nodejs Pepi'
  body.from = from
  body.subject = 'Pepipost SDK For Node JS'
  body.ampcontent = '<!doctype html><html ⚡4email><body>Hello, AMP4EMAIL world.</body></html>'
  body.content = 'Hello Folks, this is [% id %] and [% grad %] Regards [% name %]'
  const settings = new sdk.Settings()
  for (const name of ['footer', 'clicktrack', 'opentrack', 'unsubscribe']) settings[name] = 1
  body.settings = settings
  return body
}

/** Sends and answers a success. */
async function sent(body: Fields): Promise<V2Answer> {
  const answer = await createSendEmail(sender.apiKey, body, '')
  if (typeof answer === 'string') throw new Error(answer)
  return { status: 200, body: answer, headers: new Headers() }
}

/** What the client makes of a refusal: the body’s text. */
async function refusal(apiKey: string | undefined, body: Fields): Promise<V2Answer['body']> {
  const answer = await createSendEmail(apiKey, body, '')
  return JSON.parse(answer as string)
}

const ADDED =
  /^Hello Folks, this is 123543 and BE Regards Jon Doe 1<p [^>]+><a href="[^"]+\/t\/u\/[\w-]+">Unsubscribe<\/a><\/p><img [^>]+>$/

t.test('the client’s own example is delivered to To, Cc and Bcc, merged, with its file and its headers', async (t) => {
  const answer = await sent(exampleBody())
  t.match(answer.body, { message: 'Success', error_info: null })
  const all = (await copies(answer, 3)) as [Copy, Copy, Copy]
  t.strictSame(
    all.map(({ recipient }) => recipient),
    ['audit@quay.example', 'lena@harbor.example', 'ops@harbor.example'],
  )
  for (const { mail, raw } of all) {
    t.strictSame(mail.from?.value, [{ address: `info@${sender.domain}`, name: 'Nodejs Pepi' }])
    t.equal(mail.subject, 'Pepipost SDK For Node JS')
    // The example asks for an unsubscribe link and a pixel.
    t.match(mail.html, ADDED)
    t.match(raw, 'Content-Type: text/x-amp-html')
    const lines = headerLines(raw)
    for (const line of ['x-name: John 2', 'x-id: 75896', 'x-grad: BE(comp)']) t.ok(lines.includes(line), line)
    t.strictSame(
      // The AMP part is another one to this reader.
      mail.attachments.slice(1).map(({ filename, content }) => [filename, content.toString()]),
      [['filename.txt', "Hello Folks, This is Pepipost's nodeJS SDK"]],
    )
  }
  const { tags, settings, deliveries } = await story(answer)
  t.strictSame(tags, ['tagsTransnodejs'])
  t.strictSame(settings, { footer: true, clickTracking: true, openTracking: true, unsubscribe: true })
  t.strictSame(
    deliveries.map(({ recipient, reference }) => [recipient, reference]),
    [
      ['lena@harbor.example', '12'],
      ['ops@harbor.example', '123'],
      ['audit@quay.example', '123'],
    ],
  )
})

t.test('many personalizations with files for all and for one arrive, each with its own values', async (t) => {
  const body = exampleBody()
  body.personalizations = ['Ada', 'Bo'].map((name) => {
    const fields = { recipient: `${name.toLowerCase()}@harbor.example`, attributes: new sdk.Attribute({ NAME: name }) }
    return new sdk.Personalizations(fields)
  })
  body.subject = 'Größe für [%NAME%]'
  body.content = '<p>Dear [% NAME %]</p>'
  body.attachments = [new sdk.EmailBodyAttachments({ fileName: 'all ü.bin', fileContent: 'AP8NCgA=' })]
  body.replyToId = 'help@ship.example'
  body.settings = new sdk.Settings({ clicktrack: 0, bcc: 'archive@quay.example' })
  const all = await copies(await sent(body), 4)
  t.strictSame(
    all.map(({ recipient }) => recipient),
    ['ada@harbor.example', 'archive@quay.example', 'archive@quay.example', 'bo@harbor.example'],
  )
  for (const [at, name] of [
    [0, 'Ada'],
    [3, 'Bo'],
  ] as const) {
    const { mail } = all[at] as Copy
    t.equal(mail.subject, `Größe für ${name}`)
    t.equal(mail.html, `<p>Dear ${name}</p>`)
    t.equal(mail.replyTo?.text, 'help@ship.example')
    t.equal(mail.attachments.at(-1)?.filename, 'all ü.bin')
    t.strictSame(mail.attachments.at(-1)?.content, Buffer.from([0, 255, 13, 10, 0]))
  }
})

t.test('a template’s id goes with the dummy content', async (t) => {
  const { accountId } = sender
  const template = await service.core.templates.create({ accountId, name: 'late', content: '<p>[%id%] is late</p>' })
  const body = exampleBody()
  body.templateId = template.id
  body.content = '%20'
  body.settings = new sdk.Settings({ clicktrack: 0, opentrack: 0, unsubscribe: 0 })
  t.equal((await copies(await sent(body)))[0]?.mail.html, '<p>123543 is late</p>')
})

t.test('the callback gets the answer and its status', async (t) => {
  const called: unknown[] = []
  await createSendEmail(sender.apiKey, exampleBody(), '', (error, answer, { response }) =>
    called.push([error, (answer as V2Answer['body']).message, response.statusCode]),
  )
  t.strictSame(called, [[null, 'Success', 200]])
})

t.test('a refusal comes back as a body whose code is a number and whose text says why', async (t) => {
  const change = (fields: Fields) => Object.assign(exampleBody(), fields)
  const cases: readonly (readonly [apiKey: string | undefined, body: Fields, code: number])[] = [
    [undefined, exampleBody(), 100],
    ['nope', exampleBody(), 101],
    [sender.apiKey, new sdk.EmailBody(), 110],
    [sender.apiKey, change({ from: new sdk.From({ fromEmail: 'info@unknown.example' }) }), 112],
    [sender.apiKey, change({ from: null }), 113],
    [sender.apiKey, change({ personalizations: [] }), 114],
    [sender.apiKey, change({ subject: undefined }), 116],
    [sender.apiKey, change({ content: '' }), 117],
    [sender.apiKey, change({ templateId: 999999 }), 118],
    [sender.apiKey, change({ personalizations: new sdk.Personalizations({ recipient: 'a@harbor.example' }) }), 120],
  ]
  for (const [apiKey, body, code] of cases) {
    const { error_info, message, data } = await refusal(apiKey, body)
    t.equal(error_info?.error_code, code)
    t.type(error_info?.error_message, 'string')
    t.match(message, /Error/)
    t.equal(data, undefined)
  }
})

t.test('another URL than the usual one, with slashes too many, leads there too', async (t) => {
  const url = `http://127.0.0.1:${port}//v2/sendemail/`
  t.match(await createSendEmail(sender.apiKey, exampleBody(), url), { message: 'Success' })
})

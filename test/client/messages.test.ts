import t, { type Test } from 'tap'
import {
  AuthenticationError,
  ConflictError,
  NotFoundError,
  PermissionError,
  Postrider,
  PostriderError,
} from '../../packages/client/src/index.ts'
import { makeService } from '../helpers/service.ts'

async function open(t: Test) {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const baseUrl = await service.openApi()
  const postrider = new Postrider({ baseUrl, apiKey: sender.apiKey })
  return { service, sender, baseUrl, postrider, from: `Ship Desk <desk@${sender.domain}>` }
}

t.test('what a program sends is accepted as it says', async (t) => {
  const { service, sender, postrider, from } = await open(t)
  const octets = new Uint8Array(100_000).map((_, at) => at)
  const { messageId } = await postrider.messages.send({
    from,
    to: 'lena@harbor.example',
    cc: ['max@harbor.example'],
    replyTo: `help@${sender.domain}`,
    subject: 'Berth 4 – früh',
    html: '<p>Ready.</p><img src="cid:plan">',
    text: 'Ready.',
    attachments: [
      { filename: 'plan.png', content: octets, contentId: 'plan' },
      { filename: 'note.txt', content: new Blob(['aye']) },
      { filename: 'list.csv', content: btoa('a,b') },
    ],
    tags: ['berths'],
    class: 'urgent',
    trackOpens: false,
  })
  const shown = await postrider.messages.show({ messageId })
  t.match(shown, { subject: 'Berth 4 – früh', deliveries: { length: 2 } })
  const source = await new Response(await postrider.messages.download({ messageId })).text()
  t.match(source, /^From: "?Ship Desk"? <desk@/m)
  t.match(source, /^Cc: max@harbor\.example/m)
  t.match(source, /^Reply-To: /m)
  t.ok(source.replaceAll('\r\n', '').includes(Buffer.from(octets).toString('base64')), 'octets of a part each')
  t.match(source, 'YXll')
  t.equal((await postrider.messages.list({ to: 'lena@harbor.example' })).data.length, 1)
  const [stored] = await service.sql<{ tags: string[] }[]>`select tags from messages`
  t.strictSame(stored?.tags, ['berths'])
})

t.test('own names and values come back, and content that is not to be kept is marked so', async (t) => {
  const { postrider, from } = await open(t)
  const { messageId } = await postrider.messages.send({
    from,
    to: [{ to: 'lena@harbor.example', metadata: { order: 9001 } }, 'max@harbor.example'],
    subject: 'Berth 4',
    text: 'Ready.',
    metadata: { shop: 'west' },
    keepContent: false,
  })
  t.match(await postrider.messages.show({ messageId }), {
    keepContent: false,
    deliveries: [{ metadata: { shop: 'west', order: '9001' } }, { metadata: { shop: 'west' } }],
  })
})

t.test('an element of React is rendered by what the client was given, as HTML and as text', async (t) => {
  const { sender, baseUrl, from } = await open(t)
  const render = async (element: { p: string }, { plainText = false } = {}) =>
    plainText ? element.p : `<p>${element.p}</p>`
  const postrider = new Postrider({ baseUrl, apiKey: sender.apiKey, render })
  const mail = { from, to: 'lena@harbor.example', subject: 'Berth 4', react: { p: 'Ready.' } }
  const { messageId } = await postrider.messages.send(mail)
  t.match(await postrider.messages.body({ messageId }), {
    html: { text: '<p>Ready.</p>' },
    text: { text: 'Ready.' },
  })
})

t.test('each recipient gets a message with values of their own', async (t) => {
  const { service, postrider, from } = await open(t)
  await postrider.messages.send({
    from,
    to: [
      { to: 'lena@harbor.example', attributes: { name: 'Lena' }, reference: 7 },
      { to: 'max@harbor.example', attributes: { name: 'Max' } },
      'ada@harbor.example',
    ],
    subject: 'For [%name%]',
    html: '<p>x</p>',
  })
  const rows = await service.sql<{ recipient: string }[]>`select recipient from delivery_queue order by recipient`
  t.strictSame(
    rows.map(({ recipient }) => recipient),
    ['ada@harbor.example', 'lena@harbor.example', 'max@harbor.example'],
  )
  const bcc = { from, to: ['a@harbor.example', 'b@harbor.example'], bcc: 'c@harbor.example', subject: 's', html: 'x' }
  await t.rejects(postrider.messages.send(bcc), TypeError, 'each would have a copy')
})

t.test('a refusal is an error of its kind, with code and parameter', async (t) => {
  const { service, sender, baseUrl, postrider, from } = await open(t)
  const mail = { from, to: 'lena@harbor.example', subject: 'Berth 4', html: '<p>Ready.</p>' }
  const refused = async (act: Promise<unknown>) => (await act.catch((error) => error)) as PostriderError
  const { subject: _, ...without } = mail
  t.match(await refused(postrider.messages.send(without)), { name: 'PostriderError', status: 400, code: 116 })
  const wrong = await refused(postrider.messages.send({ ...mail, class: 'gold' as 'bulk' }))
  t.ok(wrong instanceof PostriderError)
  t.match(wrong, { code: 113, parameter: /class/ })
  t.equal((await service.sql`select from messages`).length, 0)
  const stranger = new Postrider({ baseUrl, apiKey: 'wrong' })
  t.ok((await refused(stranger.messages.send(mail))) instanceof AuthenticationError)
  const { api_key: key } = await postrider.keys.create({ name: 'reads', scopes: ['events'] })
  const reader = new Postrider({ baseUrl, apiKey: key })
  t.ok((await refused(reader.messages.send(mail))) instanceof PermissionError)
  t.ok(
    (await refused(postrider.messages.show({ messageId: '019b8d6a-0000-7000-8000-000000000000' }))) instanceof
      NotFoundError,
  )
  const options = { idempotencyKey: 'order-7' }
  const first = await postrider.messages.send(mail, options)
  t.strictSame(await postrider.messages.send(mail, options), first, 'once')
  t.ok((await refused(postrider.messages.send({ ...mail, html: 'y' }, options))) instanceof ConflictError)
  t.equal((await service.sql`select from messages where account_id = ${sender.accountId}`).length, 1)
  await t.rejects(async () => postrider.messages.show({ messageId: '' }), TypeError, 'not the list')
})

import t, { type Test } from 'tap'
import { makeService, type Sender } from '../../helpers/service.ts'
import { mail, openSession } from '../../relay/session.ts'
import { call, errorText, messageIdOf, refused } from '../call.ts'

const service = await makeService(t)
const base = await service.openApi()
await service.openRelay()
const { sql, core } = service
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`
const lena = 'lena@harbor.example'

const RFC822 = { 'content-type': 'message/rfc822' }

/** POST /v2/messages/raw with the message as the body, and an envelope in the query. */
function post(
  message: string | Buffer,
  { query = '', headers = {}, by = sender }: { query?: string; headers?: Record<string, string>; by?: Sender } = {},
) {
  const path = `/v2/messages/raw${query === '' ? '' : `?${query}`}`
  return call(base, { path, headers: { api_key: by.apiKey, ...RFC822, ...headers }, body: Buffer.from(message) })
}

/** What is stored of a message, without what is of the time and the way it came. */
async function storedOf(id: string) {
  const [row] = await sql<{ content: Buffer | null; details: string }[]>`
    select (select content from bodies where message_id = m.id and part = 0) as content,
           to_jsonb(m) - array['id', 'accepted_at', 'door', 'transaction_base', 'size', 'client_address', 'account_id', 'own_message_id'] as details
      from messages m where id = ${id}::uuid`
  const deliveries = await sql`
    select d.recipient, d.kind, d.state, d.reason, d.reference, q.personal
      from deliveries d left join delivery_queue q using (message_id, recipient_no)
     where d.message_id = ${id}::uuid order by recipient_no`
  const text = (row?.content ?? Buffer.alloc(0)).toString('latin1')
  const own = text
    .replace(/^Received:[^\r]*(?:\r\n[ \t][^\r]*)*\r\n/, '')
    .replace(/^Date: .*\r\n/m, '')
    .replaceAll(id, 'ID')
  return { own, details: row?.details, deliveries }
}

const CONTROLS =
  'X-APIHEADER: order-9002\r\nX-TAGS: berth, raw\r\nX-SETTINGS: {"footer":0,"bcc":"ada@harbor.example"}\r\nX-PR-CLASS: bulk\r\n'
const LONG = `<p>${'a'.repeat(1500)}</p>\r\n`
const SMTPAPI = `X-SMTPAPI: ${JSON.stringify({ to: [lena, 'bob@harbor.example'], sub: { '-n-': ['L', 'B'] }, category: ['a'] })}\r\n`
/** Messages that both ways take, and what the relay does with each. */
const TAKEN: Readonly<Record<string, string>> = {
  'a small message': mail(sender),
  'control fields': mail(sender, CONTROLS),
  'a line that is too long': mail(sender, 'Content-Type: text/html\r\n', LONG),
  'a name that lacks its quotes': mail(sender).replace('Ship Desk', 'Ship Desk, Inc.'),
  'fields in the name of another': mail(
    sender,
    'Sender: else@stranger.example\r\nReturn-Path: <else@stranger.example>\r\n',
  ),
  'a signature that does not verify': mail(
    sender,
    'DKIM-Signature: v=1; a=rsa-sha256; d=x.example; s=a; h=From; bh=YQ==; b=YQ==\r\n',
  ),
  'X-SMTPAPI': mail(sender, SMTPAPI, 'Hi -n-\r\n'),
  'X-SMTPAPI that is wrong': mail(sender, 'X-SMTPAPI: {"to":["x@harbor.example"\r\n'),
}
for (const [what, message] of Object.entries(TAKEN)) {
  t.test(`${what}: the message is stored as over SMTP`, async (t) => {
    const client = await openSession(t, service, sender)
    const reply = await client.submit(desk, lena, message)
    client.destroy()
    const [, id = '', corrected] = /^250 2\.0\.0 Ok: queued as ([0-9a-f]{32})(?: \((.*)\))?$/s.exec(reply) ?? []
    const answer = await post(message, { query: `from=${desk}&to=${lena}` })
    const data = answer.json?.data as { corrected: string | null; problems: unknown[] }
    t.equal(answer.status, 200, answer.text)
    t.equal(data.corrected, corrected ?? null)
    t.equal(data.problems.length, what.endsWith('wrong') ? 1 : 0)
    t.strictSame(await storedOf(messageIdOf(answer)), await storedOf(id))
    const story = await core.messages.show(messageIdOf(answer))
    t.equal(story?.door, 'v2', 'and says how it came')
  })
}

/** Messages that neither way takes. */
const REFUSED: Readonly<Record<string, string>> = {
  'a bare CR': mail(sender).replace('ready', 'rea\rdy'),
  'a bare LF among others': mail(sender).replace('ready', 'rea\ndy'),
  'a NUL': mail(sender).replace('ready', 'rea\0dy'),
  'a foreign sender': mail(sender).replaceAll(sender.domain, 'stranger.example'),
  'two senders': mail(sender).replace('From: ', 'From: a@b.example, '),
  'a wrong flag': mail(sender, 'X-FOOTER: perhaps\r\n'),
  'an unknown template': mail(sender, 'X-TEMPLATEID: 4711\r\n'),
  'many hops': mail(sender, 'Received: by x.example\r\n'.repeat(101)),
  'a line before the header': ` x\r\n${mail(sender)}`,
}
for (const [what, message] of Object.entries(REFUSED)) {
  t.test(`${what}: the message is refused in the words of SMTP`, async (t) => {
    const client = await openSession(t, service, sender)
    const reply = await client.submit(desk, lena, message)
    client.destroy()
    const answer = await post(message, { query: `from=${desk}&to=${lena}` })
    t.equal(answer.status, 400, answer.text)
    const words = /^5\d\d [\d.]+ (.*)$/s.exec(reply)?.[1] ?? reply
    if (what === 'a foreign sender') {
      t.match(words, /Sender domain not active: stranger\.example in the From field/)
      t.match(errorText(answer), /authentication failed: stranger\.example is not a sending domain/)
    } else t.equal(errorText(answer), words)
  })
}

t.test('without an envelope it is that of the header, and Bcc is removed', async (t) => {
  const message = `Bcc: ada@harbor.example, "B, C" <bob@harbor.example>\r\nCc: Eve <eve@harbor.example>\r\n${mail(sender)}`
  const id = messageIdOf(await post(message))
  const { deliveries, own } = await storedOf(id)
  t.strictSame(deliveries.map(({ recipient }) => recipient).sort(), [
    'ada@harbor.example',
    'bob@harbor.example',
    'eve@harbor.example',
    lena,
  ])
  t.notMatch(own, /^Bcc/im)
})

t.test('Received says that it came over HTTP', async (t) => {
  const id = messageIdOf(await post(mail(sender)))
  const [row] = await sql<{ content: Buffer }[]>`select content from bodies where message_id = ${id}::uuid and part = 0`
  t.match(String(row?.content), new RegExp(`^Received: by relay\\.test with HTTP id ${id};`))
})

t.test('a message as it is stored on Unix, with LF alone and no last line end, gets CRLF', async (t) => {
  const id = messageIdOf(await post(mail(sender).replaceAll('\r\n', '\n').trimEnd()))
  t.equal((await storedOf(id)).own, (await storedOf(messageIdOf(await post(mail(sender))))).own)
})

async function sentAs(t: Test, headers: Record<string, string>, body: string | Buffer | Record<string, unknown>) {
  const answer = await call(base, { path: '/v2/messages/raw', headers: { api_key: sender.apiKey, ...headers }, body })
  t.equal(answer.status, 200, answer.text)
  return storedOf(messageIdOf(answer))
}

t.test('as base64 in JSON, and as a file of a form, it is the same message', async (t) => {
  const to = 'ada@harbor.example'
  const whole = await storedOf(messageIdOf(await post(mail(sender), { query: `to=${to}` })))
  const raw = Buffer.from(mail(sender)).toString('base64')
  const json = { 'content-type': 'application/json' }
  t.strictSame(await sentAs(t, json, { raw, to: [to] }), whole)
  t.strictSame(await sentAs(t, json, { raw, from: `<${desk}>`, to: `Ada <${to}>` }), whole)
  const part = (head: string, text: string) => `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`
  const form = `${part('name="to"', to)}${part('name="message"; filename="message.mime"', mail(sender))}--x--\r\n`
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  t.strictSame(await sentAs(t, headers, form), whole)
  const two = `${part('name="message"; filename="other.mime"', mail(sender))}${form}`
  const answer = await call(base, {
    path: '/v2/messages/raw',
    headers: { api_key: sender.apiKey, ...headers },
    body: two,
  })
  refused(t, answer, [400, 113, /\[raw\].*must be one file/])
})

t.test('a recipient without a valid address is dropped, and the others are sent', async (t) => {
  const id = messageIdOf(await post(mail(sender), { query: `to=nobody,${lena}` }))
  t.match((await storedOf(id)).deliveries, [
    { recipient: 'nobody', state: 'dropped', reason: 'invalid' },
    { recipient: lena, state: 'queued' },
  ])
})

t.test('the null sender is one, and a foreign envelope sender is refused', async (t) => {
  const id = messageIdOf(await post(mail(sender), { query: `from=&to=${lena}` }))
  t.match((await storedOf(id)).details, { null_return_path: true })
  refused(t, await post(mail(sender), { query: `from=a@stranger.example&to=${lena}` }), [
    400,
    112,
    /^Invalid fromEmail, authentication failed: stranger\.example is not a sending domain/,
  ])
})

t.test('an Idempotency-Key makes one message of the same one, and a conflict of another', async (t) => {
  const headers = { 'idempotency-key': 'raw 1' }
  const first = await post(mail(sender), { headers })
  const again = await post(mail(sender, 'Message-ID: <new@x.example>\r\n'), { headers })
  t.equal(messageIdOf(again), messageIdOf(first))
  t.equal(again.headers['idempotent-replayed'], 'true')
  refused(t, await post(mail(sender, '', 'Another.\r\n'), { headers }), [409, 122])
})

t.test('what is missing or misspelt is named, and nothing is sent', async (t) => {
  const json = { api_key: sender.apiKey, 'content-type': 'application/json' }
  const asked = (body: Record<string, unknown>) => call(base, { path: '/v2/messages/raw', headers: json, body })
  refused(t, await asked({ to: [lena] }), [400, 113, /raw/])
  refused(t, await asked({ raw: 'ä' }), [400, 113, /\[raw\].*must be base64/])
  refused(t, await asked({ raw: 'YQ==', recipients: [lena] }), [400, 113, /recipients/])
  refused(t, await post(mail(sender).replace(/To: .*\r\n/, '')), [400, 114])
  const plain = await service.makeSender()
  await sql`update api_keys set scopes = '{stats}' where account_id = ${plain.accountId}`
  t.equal((await post(mail(plain), { by: plain })).status, 403)
})

t.test('a large message, and one to many, are taken by the thread for large calls', async (t) => {
  const body = 'Your berth is ready, and so is the harbor.\r\n'.repeat(30_000)
  const whole = messageIdOf(await post(mail(sender, '', body)))
  t.ok((await storedOf(whole)).own.length > 1_000_000)
  const many = Array.from({ length: 900 }, (_, at) => `someone${at}@harbor.example`)
  const to = messageIdOf(await post(mail(sender).replace(lena, many.join(',\r\n '))))
  t.equal((await storedOf(to)).deliveries.length, 900)
  const answer = await post(mail(sender).replace(lena, [...many, ...many.map((one) => `x${one}`)].join(',\r\n ')))
  refused(t, answer, [400, 123, 'Too many recipients: the limit is 1000 per call'])
})

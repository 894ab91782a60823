import t from 'tap'
import { answered } from '../cli/postrider.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openWorker } from '../helpers/worker.ts'

interface Listed {
  readonly kind: string
  readonly effect: string
  readonly messageId: string | null
  readonly recipientNo: number | null
  readonly isKept: boolean
  readonly forward: string | null
}

const sink = await startSink(t)
const service = await makeService(t, {
  DELIVERY: `smtp://127.0.0.1:${sink.port}`,
  RETURN_PATH_HOST: 'bounces.test',
  OPERATOR_MAIL: 'desk@operator.example',
  SERVICE_DOMAIN: 'post.example',
  PUBLIC_URL: 'https://post.example',
})
const { core, sql, env, config } = service
await service.openApi()
await openWorker(t, service)
const sender = await service.makeSender()

/** A delivered message to two recipients, as the second one has it. */
async function delivered(): Promise<{ messageId: string; raw: string }> {
  const before = sink.messages.length
  const personalizations = [{ recipient: 'olaf@harbor.example' }, { recipient: 'lena@harbor.example' }]
  const { body } = await sendV2(
    `http://127.0.0.1:${config.apiPort}`,
    sender.apiKey,
    v2Body(sender, { personalizations, settings: { unsubscribe: true } }),
  )
  await until('the message', () => sink.messages.length >= before + 2, 20_000)
  const own = sink.messages.slice(before).find(({ to }) => to[0] === 'lena@harbor.example')
  return { messageId: body.data?.message_id as string, raw: String(own?.data) }
}

const HEAD = 'From: Mina <mina@quay.example>\r\nTo: abuse@bounces.test\r\nSubject: Stop this\r\nMIME-Version: 1.0\r\n'
const parts = (...all: readonly string[]) =>
  `${HEAD}Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n${['Content-Type: text/plain\r\n\r\nIt is spam.', ...all].join('\r\n--b\r\n')}\r\n--b--\r\n`
const base64 = (text: string) =>
  (
    Buffer.from(text, 'latin1')
      .toString('base64')
      .match(/.{1,76}/g) ?? []
  ).join('\r\n')
const text = (body: string) => `${HEAD}Content-Type: text/plain\r\n\r\n${body}\r\n`
const marked = (body: string) => body.replace(/^/gm, '> ')

/** How mail programs pass a message on, and people quote it. */
const FORMS: Readonly<Record<string, (raw: string) => string>> = {
  'as a message': (raw) => parts(`Content-Type: message/rfc822\r\nContent-Disposition: attachment\r\n\r\n${raw}`),
  'as a file': (raw) =>
    parts(
      `Content-Type: application/octet-stream; name="Berth 4.eml"\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(raw)}`,
    ),
  'as a message in base64': (raw) =>
    parts(`Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(raw)}`),
  'as a message within one that was passed on': (raw) =>
    parts(
      `Content-Type: message/rfc822\r\n\r\nSubject: Fwd\r\nContent-Type: multipart/mixed; boundary=i\r\n\r\n--i\r\n\r\nSee.\r\n--i\r\nContent-Type: message/rfc822\r\n\r\n${raw}\r\n--i--`,
    ),
  'its header only': (raw) =>
    parts(`Content-Type: text/rfc822-headers\r\n\r\n${raw.slice(0, raw.indexOf('\r\n\r\n'))}`),
  'its source, quoted': (raw) => text(`It is spam:\r\n${marked(raw)}`),
  'its source, below a line': (raw) => text(`-----Original Message-----\r\n${raw}`),
  'its text, by a mail program that leaves out the header': (raw) =>
    `${HEAD}Content-Type: text/html\r\n\r\n<p>---------- Forwarded message ---------</p><p>From: desk</p>${linkIn(raw)}\r\n`,
  'its text, with links of a filter': (raw) =>
    `${HEAD}Content-Type: text/html\r\n\r\n<a href="https://links.example/?url=${encodeURIComponent(urlIn(raw))}&amp;data=1">x</a>\r\n`,
}

const unfolded = (raw: string) =>
  raw
    .replace(/=\r\n/g, '')
    .replace(/\r\n[ \t]+/g, ' ')
    .replace(/=3D/g, '=')
const urlIn = (raw: string) => /https:\/\/[^\s"<>]*\/t\/u\/[\w-]+/.exec(unfolded(raw))?.[0] ?? 'no link'
const linkIn = (raw: string) => `<a href="${urlIn(raw)}">Unsubscribe</a>`

const about = (messageId: string) => answered<Listed[]>(env, 'returns', 'list', '--message', messageId)
const take = (raw: string) =>
  core.returns.take({
    raw: Buffer.from(raw, 'latin1'),
    recipients: ['abuse@bounces.test'],
    mailFrom: 'mina@quay.example',
  })

for (const [form, write] of Object.entries(FORMS)) {
  t.test(`a letter with our message is tied to its delivery: ${form}`, async (t) => {
    const { messageId, raw } = await delivered()
    t.match(await take(write(raw)), { kind: 'letter', effect: 'none', delivery: { messageId, recipientNo: 1 } })
    t.match(await about(messageId), [
      { kind: 'letter', effect: 'none', recipientNo: 1, isKept: true, forward: 'waiting' },
    ])
    const suppressed = await sql`select from suppressions where message_id = ${messageId}::uuid`
    t.equal(suppressed.length, 0, 'a person decides what follows')
  })
}

t.test('a forged mark, or one of another installation, ties a letter to nothing', async (t) => {
  const { messageId, raw } = await delivered()
  const forged = raw.replace(
    /([bc]-[a-z2-7]{20})([a-z2-7])/g,
    (_all, start: string, next: string) => `${start}${next === 'a' ? 'b' : 'a'}`,
  )
  const noLinks = forged.replace(/\/t\/([a-z])\//g, '/x/$1/')
  t.match(await take(text(noLinks)), { kind: 'letter', delivery: null })
  t.strictSame(await about(messageId), [])
})

t.test('of many letters about one delivery all are kept, and five are tied to it', async (t) => {
  const { messageId, raw } = await delivered()
  const [before] = await sql`select count(*)::int as letters from returns where forward = 'waiting'`
  for (let at = 0; at < 7; at++) await take(text(raw))
  const [after] = await sql`select count(*)::int as letters from returns where forward = 'waiting'`
  t.equal(after?.letters - before?.letters, 7)
  t.equal((await about(messageId)).length, 5)
})

t.test('a letter about a message to an erased recipient is kept for the operator, without the message', async (t) => {
  const { messageId, raw } = await delivered()
  await take(text(raw))
  await core.privacy.forget(sender.accountId, ['lena@harbor.example'])
  const letters = async () =>
    (await sql`select count(*)::int as count from returns where kind = 'letter' and content is not null`)[0]?.count
  const before = await letters()
  await until('the erasure', async () => (await about(messageId)).length === 0, 30_000)
  t.equal(await letters(), before)
  t.match(await take(text(raw)), { kind: 'letter' })
  t.equal(await letters(), before + 1)
  t.strictSame(await about(messageId), [])
})

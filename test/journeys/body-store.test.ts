import { randomBytes } from 'node:crypto'
import { parseMessageId } from '@postrider/core'
import t from 'tap'
import { examined, foundBy } from '../cli/doctor.ts'
import { moveClock } from '../helpers/database.ts'
import { erase } from '../helpers/erase.ts'
import { startObjectStorage } from '../helpers/object-storage.ts'
import { startProcess } from '../helpers/processes.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { until } from '../helpers/until.ts'
import { openWorker } from '../helpers/worker.ts'

/** Its processes outlive a subtest. */
const journey = t
const storage = await startObjectStorage(t)
const sink = await startSink(t)
const service = await makeService(t, { ...storage.settings, DELIVERY: `smtp://127.0.0.1:${sink.port}` })
const sender = await service.makeSender()
const { apiKey, domain } = sender
const from = `desk@${domain}`
const base = `http://127.0.0.1:${service.config.apiPort}`
let api = await startProcess(t, 'api', service.env)
await service.openRelay()
await openWorker(t, service)
const client = await SmtpClient.connect(t, { port: service.config.relayTlsPort, tls: true })
await client.reply()
await client.logIn(apiKey)

const PHOTO = randomBytes(300_000).toString('base64')

/** 400 kB of base64. */
function mailOf(to: string): string {
  const lines = PHOTO.match(/.{1,76}/g)?.join('\r\n')
  return `From: ${from}\r\nTo: ${to}\r\nSubject: Photo\r\nMIME-Version: 1.0\r\nContent-Type: image/jpeg\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines}\r\n`
}

function callOf(recipient: string, fileContent = PHOTO): Record<string, unknown> {
  return v2Body(sender, {
    personalizations: [{ recipient }],
    attachments: [{ fileName: 'photo.jpg', fileContent }],
  })
}

/** The message as it arrived. */
function arrived(recipient: string): Promise<Buffer> {
  return until(`the mail to ${recipient}`, () => sink.messages.find(({ to }) => to.includes(recipient))?.data)
}

function stored(): string[] {
  return [...storage.objects.keys()].flatMap((key) => /[0-9a-f]{32}$/.exec(key)?.[0] ?? [])
}

t.beforeEach(() => {
  storage.react = () => undefined
})

t.test('large mail by SMTP and HTTP is stored as objects, and delivered octet for octet', async (t) => {
  const mail = mailOf('lena@harbor.example')
  t.match(await client.submit(from, 'lena@harbor.example', mail), /^250/)
  t.equal((await sendV2(base, apiKey, callOf('nils@harbor.example'))).status, 200)
  t.equal(stored().length, 2)
  t.equal((await service.sql`select from bodies where octet_length(content) > 32`).length, 0)
  t.ok((await arrived('lena@harbor.example')).toString().endsWith(mail.slice(mail.indexOf('Subject:'))))
  const composed = (await arrived('nils@harbor.example')).toString().replaceAll('\r\n', '')
  t.ok(composed.includes(PHOTO))
})

t.test(
  'an API killed between the storage and the commit leaves an object that is swept, and nothing else',
  async (t) => {
    const before = stored()
    const [count] = await service.sql`select count(*)::int as count from messages`
    const held = Promise.withResolvers<void>()
    storage.react = async ({ method }) => {
      if (method !== 'PUT') return undefined
      // The storage has all of it, and its answer never arrives.
      held.resolve()
      await api.exited
      return undefined
    }
    const answer = sendV2(base, apiKey, callOf('lost@harbor.example')).catch((error: Error) => error)
    await held.promise
    api.kill('SIGKILL')
    t.ok((await answer) instanceof Error)
    const orphan = await until('the object', () => stored().find((id) => !before.includes(id)))
    t.same(await service.sql`select count(*)::int as count from messages`, [count])
    storage.react = () => undefined
    api = await startProcess(journey, 'api', service.env)
    // The id is dated by the real clock.
    await moveClock(service.sql, '31 hours')
    while (await service.core.retention.sweepSome());
    await until('the object to be removed', async () => {
      await service.core.retention.removeSome()
      return !stored().includes(orphan)
    })
    t.same(stored().sort(), before.sort())
  },
)

t.test(
  'while the storage is down: 503 and 451 for large mail, 200 for small, readiness and "why" say so; then all goes on',
  async (t) => {
    t.equal((await sendV2(base, apiKey, callOf('before@harbor.example'))).status, 200)
    await arrived('before@harbor.example')
    const waiting = await sendV2(base, apiKey, {
      ...callOf('waiting@harbor.example'),
      scheduleTime: Math.floor(Date.now() / 1000) + 32 * 3600,
    })
    t.equal(waiting.status, 200, waiting.body.message)
    storage.react = () => ({ status: 503, code: 'ServiceUnavailable' })
    for (let call = 0; call < 4; call++) {
      // Of a size that the process handles itself, not its thread for large calls.
      const refused = await sendV2(base, apiKey, callOf('refused@harbor.example', PHOTO.slice(0, 160_000)))
      t.match(refused, {
        status: 503,
        body: { error_info: { error_message: /Messages of this size cannot be stored/ } },
      })
    }
    t.match(
      await client.submit(from, 'refused@harbor.example', mailOf('refused@harbor.example')),
      /^451 4\.3\.0 .*this size/,
    )
    t.equal((await sendV2(base, apiKey, v2Body(sender))).status, 200)
    const ready = await fetch(`${base}/health/ready`)
    t.equal(ready.status, 200)
    t.match(await ready.json(), { status: 'ready', notes: [/^large messages are refused: object storage at/] })

    const messageId = waiting.body.data?.message_id ?? ''
    await moveClock(service.sql, '64 hours')
    const why = await until('the delivery to be put off', async () => {
      const found = await service.core.messages.why({ messageId })
      return JSON.stringify(found).includes('object storage') && found
    })
    t.match(JSON.stringify(why), /the object storage that has the body of this message is not available/)
    t.notOk(JSON.stringify(why).includes(storage.url), 'the account is not told where it is')
    storage.react = () => undefined
    await moveClock(service.sql, '68 hours')
    await arrived('waiting@harbor.example')
    t.notOk(sink.messages.some(({ to }) => to.includes('refused@harbor.example')))
    await until('large mail to be accepted', async () => {
      return (await sendV2(base, apiKey, callOf('after@harbor.example'))).status === 200
    })
    await arrived('after@harbor.example')
  },
)

t.test('an erased recipient’s object is removed by the worker', async (t) => {
  const { body } = await sendV2(base, apiKey, callOf('mina@harbor.example'))
  const id = body.data?.message_id ?? ''
  await arrived('mina@harbor.example')
  t.ok(stored().includes(id))
  await until('the outcome', async () => {
    const rows = await service.sql`select from finished_deliveries where message_id = ${parseMessageId(id) ?? ''}::uuid`
    return rows.length > 0
  })
  await erase(service.core, sender.accountId, ['mina@harbor.example'])
  await until('the object to be removed', () => !stored().includes(id), 30_000)
  t.ok(stored().length > 0, 'and no other')
})

t.test('postrider doctor says whether the storage works, and what to do', async (t) => {
  const found = async () => foundBy(await examined(service.env), 'body store')
  t.match(await found(), /^ok: s3:\/\/mail\/bodies stores, reads, lists and removes objects, in \d+ ms$/)
  t.notOk([...storage.objects.keys()].some((key) => key.includes('doctor')))
  storage.react = ({ method }) => (method === 'PUT' ? { status: 403, code: 'AccessDenied' } : undefined)
  t.match(await found(), /^bad: .*grant s3:PutObject on the bucket mail .*; fix: large messages are refused/)
})

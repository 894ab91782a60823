import t, { type Test } from 'tap'
import { createServiceMail } from '../../packages/core/src/messages/service-mail.ts'
import { createSecrets } from '../../packages/core/src/platform/security/secrets.ts'
import { createReturns } from '../../packages/core/src/returns/index.ts'
import { answered, postrider } from '../cli/postrider.ts'
import { moveClock, stopClock } from '../helpers/database.ts'
import { type ServiceProcess, startProcess } from '../helpers/processes.ts'
import { makeService, type TestService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { until } from '../helpers/until.ts'
import { openWorker } from '../helpers/worker.ts'

const OPERATOR = 'desk@operator.example'

interface Listed {
  readonly id: string
  readonly forward: string | null
  readonly mailFrom: string | null
}

/** An installation that passes letters on, with a server that takes what it sends; a worker only on request. */
async function makeInstallation(own: Test, settings: Record<string, string> = {}) {
  const sink = await startSink(own)
  const all = { DELIVERY: `smtp://127.0.0.1:${sink.port}`, RETURN_PATH_HOST: 'bounces.test', ...settings }
  const service = await makeService(own, { ...all, OPERATOR_MAIL: OPERATOR, SERVICE_DOMAIN: 'post.example' })
  const account = await service.core.accounts.create(`service-${process.pid}-${Math.random()}`)
  await service.giveKey('post.example')
  await service.core.domains.add({ accountId: account.id, name: 'post.example', state: 'active' })
  await service.openReturns()
  return {
    service,
    sink,
    accountId: account.id,
    forwarded: () =>
      sink.messages.filter(({ to }) => to[0] === OPERATOR).map(({ data, from }) => ({ from, text: String(data) })),
    list: () => answered<Listed[]>(service.env, 'returns', 'list'),
    async mail(to: string, message: string | Buffer, from = 'mina@quay.example') {
      const client = await SmtpClient.connect(own, { port: service.config.returnsPort })
      await client.reply()
      await client.command('EHLO mx.quay.example')
      own.match(await client.submit(from, to, message), /^250 /)
    },
  }
}

const letter = (subject: string, text = 'Your server sends me spam.') =>
  `From: Mina <mina@quay.example>\r\nTo: abuse@bounces.test\r\nSubject: ${subject}\r\n\r\n${text}\r\n`

/** Passes on all that is due, without a worker. */
async function forwardAll({ core }: Pick<TestService, 'core'>): Promise<void> {
  while (await core.returns.forwardSome());
}

const accepted = async ({ sql }: Pick<TestService, 'sql'>) =>
  (await sql<{ subject: string }[]>`select subject from messages order by id`).map(({ subject }) => subject)

t.test('a letter to abuse@ or postmaster@ is passed on to the operator unchanged, and the list says so', async (t) => {
  const { service, forwarded, list, mail } = await makeInstallation(t)
  await openWorker(t, service)
  const raw = letter('Stop  =?utf-8?q?=E2=82=AC?= please [%NAME%]')
  await mail('abuse@bounces.test', raw)
  await mail('postmaster@bounces.test', letter('Hello'))
  await mail('fbl@bounces.test', letter('Confirm your loop'))
  await until('both letters', () => forwarded().length === 2, 20_000)
  const [first, second] = ['Stop', 'Hello'].map((word) =>
    forwarded().find(({ text }) => text.includes(`Subject: ${word}`)),
  )
  const { text = '', from } = first ?? {}
  t.match(from, /^b-.*@bounces\.test$/, 'a bounce of it comes back as that of any message')
  t.match(text, /^From: Postrider <noreply@post\.example>\r$/m)
  t.match(text, /^Reply-To: mina@quay\.example\r$/m)
  t.match(text, /^Auto-Submitted: auto-generated\r$/m)
  t.match(text, /^DKIM-Signature: /m)
  t.match(text, 'MAIL FROM: <mina@quay.example>')
  t.match(text, /Content-Type: message\/rfc822;\r\n name="?letter\.eml"?\r\nContent-Transfer-Encoding: 7bit\r\n/)
  t.ok(text.includes(`\r\n\r\n${raw}`), 'to the octet')
  t.match(second?.text, /^Subject: \[postmaster\] Hello\r$/m)
  const listed = await until('the notes', async () => {
    const all = await list()
    return all.filter(({ forward }) => forward === 'sent').length === 2 ? all : undefined
  })
  t.match(listed, [
    { role: 'fbl', forward: null },
    { forward: 'sent' },
    { forward: 'sent', mailFrom: 'mina@quay.example' },
  ])
  const shown = await postrider(service.env, 'returns', 'show', listed[2]?.id ?? '')
  t.match(shown.stdout, /^MAIL FROM {3}<mina@quay\.example>$/m)
  t.match(shown.stdout, /^forwarded {3}yes, message [0-9a-f]{32}$/m)
})

t.test('a letter that has a message of this service attached, or quotes its header, names the message', async (t) => {
  const { service, forwarded, mail } = await makeInstallation(t)
  await openWorker(t, service)
  const messageId = '0190a5d8c4b07f4a8a7d3c1b2e4f5a6b'
  const reference = service.core.deliveries.reference({ messageId, recipientNo: 0 }, Date.now())
  const own = (mark: string) => `From: shop@ship.example\r\nSubject: Offer\r\nX-PR-Ref: ${mark}\r\n\r\nBuy!`
  const parts = ['Content-Type: text/plain\r\n\r\nStop this.', `Content-Type: message/rfc822\r\n\r\n${own(reference)}`]
  const attached = `MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n${parts.join('\r\n--b\r\n')}\r\n--b--`
  await mail('abuse@bounces.test', `From: mina@quay.example\r\nSubject: Attached\r\n${attached}\r\n`)
  await mail('abuse@bounces.test', letter('Quoted', own(reference)))
  await mail('abuse@bounces.test', letter('Forged', own(reference.replace(/^.{20}/, 'a'.repeat(20)))))
  const texts = await until(
    'the letters',
    () => forwarded().length === 3 && forwarded().map(({ text }) => text),
    20_000,
  )
  const about = (word: string) =>
    /has sent is attached: (\w+)/.exec(texts.find((text) => text.includes(`Subject: [abuse] ${word}`)) ?? '')?.[1]
  t.strictSame(['Attached', 'Quoted', 'Forged'].map(about), [messageId, messageId, undefined])
})

t.test(
  'a letter with octets beyond ASCII is attached as a file, one that is not kept as a whole as its text',
  async (t) => {
    const { service, forwarded, mail } = await makeInstallation(t)
    const eight = Buffer.from(letter('Latin', 'gr\xfc\xdfe'), 'latin1')
    await mail('abuse@bounces.test', eight)
    await mail('abuse@bounces.test', letter('Large', `It begins here.\r\n${`${'x'.repeat(70)}\r\n`.repeat(5000)}`))
    await forwardAll(service)
    const bodies = await service.sql<{ subject: string; parts: number }[]>`
    select m.subject, count(*)::int as parts from messages m join bodies b on b.message_id = m.id group by m.id order by m.subject desc`
    t.match(bodies, [
      { subject: '[abuse] Latin', parts: 2 },
      { subject: '[abuse] Large', parts: 1 },
    ])
    await openWorker(t, service)
    const sent = await until('the letter', () => forwarded().find(({ text }) => text.includes('[abuse] Latin')), 20_000)
    t.match(
      sent.text,
      /Content-Type: application\/octet-stream;\r\n name="letter\.eml"\r\nContent-Transfer-Encoding: base64\r\n/,
    )
  },
)

t.test('a worker that is killed at any moment leaves each letter to be sent once', async (t) => {
  const { service, forwarded, list } = await makeInstallation(t)
  const wanted = Array.from({ length: 40 }, (_none, at) => `Letter ${at}.`)
  for (const subject of wanted) {
    await service.core.returns.take({ raw: Buffer.from(letter(subject)), recipients: ['abuse@bounces.test'] })
  }
  let worker: ServiceProcess | undefined
  for (let kill = 0; kill < 6; kill++) {
    worker = await startProcess(t, 'delivery', service.env)
    const before = (await accepted(service)).length
    await until('some more', async () => (await accepted(service)).length >= Math.min(before + 3, 40), 20_000)
    worker.kill()
    await worker.exited
    // What it had claimed is due again after some minutes.
    await moveClock(service.sql, `${(kill + 1) * 3} minutes`)
  }
  // A letter that several of them had begun is due again later than that.
  await moveClock(service.sql, '1 hour')
  await openWorker(t, service)
  await until('all of them', async () => (await list()).every(({ forward }) => forward === 'sent'), 30_000)
  const subjects = await accepted(service)
  t.strictSame([...subjects].sort(), wanted.map((subject) => `[abuse] ${subject}`).sort(), 'each is accepted once')
  // A delivery waits five minutes if it was cut off after its end of data, or after its workers have died three times.
  await until('the last takeover', async () => (await service.sql`select from workers`).length === 1, 30_000)
  await moveClock(service.sql, '2 hours')
  await until(
    'their arrival',
    () => new Set(forwarded().map(({ text }) => /\nSubject: (.*)\r/.exec(text)?.[1])).size === 40,
    30_000,
  )
  // As if it had been killed after each message was accepted, before it could note that.
  await service.sql`update returns set forward = 'waiting', forward_at = service_now()`
  await until('the notes', async () => (await list()).every(({ forward }) => forward === 'sent'), 30_000)
  t.equal((await accepted(service)).length, 40)
})

t.test('two processes that pass on letters at once send each of them once', async (t) => {
  const { service, mail } = await makeInstallation(t)
  for (let at = 0; at < 10; at++) await mail('postmaster@bounces.test', letter(`Letter ${at}`))
  await Promise.all([1, 2, 3].map(() => forwardAll(service)))
  await forwardAll(service)
  t.equal(new Set(await accepted(service)).size, 10)
  t.equal((await accepted(service)).length, 10)
})

t.test('mail that this service has sent, and that of the null sender, is not passed on', async (t) => {
  const { service, forwarded, list, mail } = await makeInstallation(t)
  await openWorker(t, service)
  await mail('abuse@bounces.test', letter('First'))
  await until('the letter', () => forwarded().length === 1, 20_000)
  // The operator's server sends it on to where it came from.
  const back = forwarded()[0]?.text ?? ''
  await mail('abuse@bounces.test', back, OPERATOR)
  await mail('abuse@bounces.test', back.replace(/^Auto-Submitted.*\r\n/m, ''), OPERATOR)
  await mail('postmaster@bounces.test', letter('A note of a robot'), '')
  await mail('postmaster@bounces.test', `Auto-Submitted: auto-replied\r\n${letter('Re: away')}`)
  const states = async () => (await list()).map(({ forward }) => forward)
  await until('the notes', async () => !(await states()).includes('waiting'))
  t.strictSame(await states(), [null, 'automatic', 'own', null, 'sent'])
  t.equal(forwarded().length, 1)
})

t.test('beyond the hourly limit letters are only kept, and one summary counts them after the hour', async (t) => {
  const { service, mail, list } = await makeInstallation(t)
  const { sql, config, core } = service
  const serviceMail = createServiceMail({ sql, messages: core.messages, config })
  const secrets = createSecrets(service.env.SECRET_KEY as string)
  const { aggregateReports } = core
  const options = { sql, secrets, config, aggregateReports, now: Date.now, serviceMail, lettersPerHour: 3 }
  const returns = createReturns(options)
  t.teardown(() => returns.close())
  const some = async () => {
    while (await returns.forwardSome());
  }
  await stopClock(sql)
  for (let at = 0; at < 5; at++) await mail('abuse@bounces.test', letter(`Letter ${at}`))
  await some()
  t.equal((await accepted(service)).length, 3)
  t.strictSame((await list()).map(({ forward }) => forward).sort(), ['excess', 'excess', 'sent', 'sent', 'sent'])
  await stopClock(sql, { hours: 1 })
  await Promise.all([some(), some()])
  t.strictSame((await accepted(service)).slice(3), ['2 more letters to abuse@ and postmaster@'])
  await mail('abuse@bounces.test', letter('Of the next hour'))
  await some()
  t.equal((await accepted(service)).length, 5)
  t.strictSame((await list()).map(({ forward }) => forward).sort(), [
    'sent',
    'sent',
    'sent',
    'sent',
    'summarised',
    'summarised',
  ])
})

t.test('a letter waits while the service may not send, and is given up after hours, but kept', async (t) => {
  const { service, mail, list, accountId } = await makeInstallation(t)
  await service.core.accounts.suspend(accountId)
  await mail('abuse@bounces.test', letter('Patience'))
  t.match(await service.core.returns.forwardSome(), { problem: /suspended/i })
  t.match(await list(), [{ forward: 'waiting', isKept: true }])
  await moveClock(service.sql, '21 hours')
  await forwardAll(service)
  t.match(await list(), [{ forward: 'failed', isKept: true }])
  t.strictSame(await accepted(service), [])
})

t.test('without OPERATOR_MAIL a letter is kept and listed, and the health of the process says so', async (t) => {
  const service = await makeService(t)
  await service.openReturns()
  await service.core.returns.take({ raw: Buffer.from(letter('Hm')), recipients: ['abuse@relay.test'] })
  t.equal(await service.core.returns.forwardSome(), undefined)
  t.match(await answered(service.env, 'returns', 'list'), [{ kind: 'letter', forward: null, isKept: true }])
  const health = await postrider(service.env, 'health', 'returns')
  t.match(health, { code: 0, stdout: /OPERATOR_MAIL is not set/ })
})

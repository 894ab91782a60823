import { simpleParser } from 'mailparser'
import t, { type Test } from 'tap'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openSession } from '../relay/session.ts'
import { notifiedBy, partsOf } from './notified.ts'
import { startOutbox } from './outbox.ts'
import { verdictOf } from './tracked.ts'

const sink = await startSink(t, {
  rcpt: ({ command }) =>
    command.includes('gone')
      ? '550 5.1.1 <gone@harbor.example>: user unknown'
      : command.includes('busy')
        ? '451 4.3.2 try later'
        : undefined,
})
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
const { service, sender } = outbox
await service.openRelay()
const { domain } = sender
const { desk, letter, about, submit, notification } = notifiedBy(outbox, sink)

/** Each is refused once only: its address is suppressed from then on. */
let refused = 0
const gone = (): string => `gone.${++refused}@harbor.example`

const OPERATOR = { keyId: null, address: null }

/** The mail of a message whose notification is to be compared with: it is notified of, after that other. */
async function settled(t: Test): Promise<void> {
  const id = await submit(t, { recipients: [`<${gone()}> NOTIFY=FAILURE`] })
  await notification(id, 'failed')
}

t.test('a failure is reported to MAIL FROM, with envelope id, original recipient and the reply', async (t) => {
  const id = await submit(t, {
    mail: ' RET=HDRS ENVID=QQ+2B314159',
    recipients: ['<gone@harbor.example> NOTIFY=FAILURE ORCPT=rfc822;Gone+2Bold@harbor.example'],
  })
  const arrived = await notification(id, 'failed')
  t.strictSame([arrived.from, arrived.to], ['', [desk]])
  t.equal(await verdictOf(sender, service, arrived.data), `pass ${domain}`)
  const read = await simpleParser(arrived.data)
  t.equal(read.from?.value[0]?.address, `mailer-daemon@${domain}`)
  t.equal(read.headers.get('auto-submitted'), 'auto-replied')
  t.match(read.headers.get('content-type'), { value: 'multipart/report', params: { 'report-type': 'delivery-status' } })
  t.match(read.text, '<gone@harbor.example>')
  t.match(read.text, '550 5.1.1 <gone@harbor.example>: user unknown')
  t.match(read.text, `Message: ${id}\n`)
  const [, status = '', original = ''] = partsOf(arrived)
  t.match(
    status,
    'Content-Type: message/delivery-status\r\n\r\nOriginal-Envelope-Id: QQ+314159\r\nReporting-MTA: dns; ',
  )
  t.match(
    status,
    '\r\n\r\nOriginal-Recipient: rfc822; Gone+old@harbor.example\r\nFinal-Recipient: rfc822; gone@harbor.example\r\nAction: failed\r\nStatus: 5.1.1\r\n',
  )
  t.match(status, 'Remote-MTA: dns; [127.0.0.1]\r\n')
  t.match(
    status.replaceAll('\r\n ', ' '),
    /^Diagnostic-Code: smtp; 550 5\.1\.1 <gone@harbor\.example>: user unknown\r$/m,
  )
  t.match(original, /^\r\nContent-Type: text\/rfc822-headers\r\n/)
  t.match(original, 'Subject: Berth 4')
  t.notMatch(original, 'Your berth is ready.')
})

t.test('with RET=FULL the whole message is returned', async (t) => {
  const id = await submit(t, { mail: ' RET=FULL', recipients: [`<${gone()}> NOTIFY=SUCCESS,FAILURE`] })
  const [, , original = ''] = partsOf(await notification(id, 'failed'))
  t.match(original, /^\r\nContent-Type: message\/rfc822\r\n/)
  t.match(original, 'Your berth is ready.')
})

t.test('a delivery is reported as relayed if NOTIFY has SUCCESS, with the header alone', async (t) => {
  const id = await submit(t, { mail: ' RET=FULL', recipients: ['<lena@harbor.example> NOTIFY=SUCCESS'] })
  const [, status = '', original = ''] = partsOf(await notification(id, 'relayed'))
  t.match(status, /^Status: 2\.\d\.\d\r$/m)
  t.match(original, 'Content-Type: text/rfc822-headers')
})

t.test('each recipient has its own: NEVER, FAILURE and SUCCESS in one message', async (t) => {
  const id = await submit(t, {
    recipients: [
      '<gone1@harbor.example> NOTIFY=NEVER',
      '<gone2@harbor.example> NOTIFY=FAILURE',
      '<piet@harbor.example> NOTIFY=FAILURE',
      '<ole@harbor.example> NOTIFY=SUCCESS,DELAY',
    ],
  })
  await notification(id, 'failed')
  await notification(id, 'relayed')
  await settled(t)
  const finals = about(id).map(({ data }) => /^Final-Recipient: rfc822; (\w+)@/m.exec(data.toString())?.[1])
  t.strictSame(finals.sort(), ['gone2', 'ole'])
})

t.test('a delay is reported once, after four hours', async (t) => {
  const id = await submit(t, { recipients: ['<busy@harbor.example> NOTIFY=DELAY'] })
  await outbox.attempted(id, 1)
  await settled(t)
  t.strictSame(about(id), [])
  for (const attempts of [2, 3]) {
    await outbox.advance(250)
    await outbox.attempted(id, attempts)
  }
  const [, status = ''] = partsOf(await notification(id, 'delayed'))
  t.match(status, 'Status: 4.3.2')
  t.match(status, 'Will-Retry-Until: ')
  await settled(t)
  t.equal(about(id).length, 1)
})

t.test('nothing is reported without NOTIFY, nor to an address at no domain of the account', async (t) => {
  const plain = await submit(t, { recipients: [`<${gone()}>`] })
  const original = await submit(t, { recipients: [`<${gone()}> ORCPT=rfc822;lena@harbor.example`] })
  await service.core.accounts.settings.change(sender.accountId, { fallbackSender: `host@${domain}` }, OPERATOR)
  const mayBegin = async () => {
    const client = await openSession(t, service, sender)
    return (await client.command('MAIL FROM:<root@web1.corp.test>')).startsWith('250')
  }
  await until('the setting', mayBegin, 5000)
  const foreign = await submit(t, {
    from: 'root@web1.corp.test',
    recipients: [`<${gone()}> NOTIFY=FAILURE`],
    message: letter.replace(desk, 'root@web1.corp.test'),
  })
  const bounce = await submit(t, { from: '', recipients: [`<${gone()}> NOTIFY=FAILURE`] })
  await settled(t)
  for (const id of [plain, original, foreign, bounce]) t.strictSame(about(id), [])
})

t.test(
  'with mailReports failures are reported without NOTIFY, but not those with NEVER, and no deliveries',
  async (t) => {
    const other = await service.makeSender()
    await service.core.accounts.settings.change(other.accountId, { mailReports: true }, OPERATOR)
    const from = `desk@${other.domain}`
    const message = letter.replaceAll(desk, from)
    const recipients = [
      '<gone.first@harbor.example>',
      '<gone.never@harbor.example> NOTIFY=NEVER',
      '<lena@harbor.example>',
    ]
    const id = await submit(t, { from, recipients, message }, other.apiKey)
    const arrived = await notification(id, 'failed')
    t.strictSame(arrived.to, [from])
    t.equal(await verdictOf(other, service, arrived.data), `pass ${other.domain}`)
    await settled(t)
    t.equal(about(id).length, 1)
  },
)

t.test('recipients in `to` of X-SMTPAPI are notified of as the recipient in RCPT is, or by mailReports', async (t) => {
  const named = [gone(), `Lena Quay <${gone()}>`, 'gone.Upper@HARBOR.example', 'lena@harbor.example']
  const withTo = (text: string) => `X-SMTPAPI: ${JSON.stringify({ to: named })}\r\n${text}`
  const failures = async (id: string) => {
    await until('three notifications', () => about(id).length >= 3, 40_000)
    await settled(t)
    return about(id).map(({ data }) => /^Final-Recipient: rfc822; (\S+)\r$/m.exec(data.toString())?.[1]?.toLowerCase())
  }
  const wanted = named.slice(0, 3).map((text) => /[^<\s]+@[^>]+/.exec(text)?.[0].toLowerCase())
  const asked = await submit(t, { recipients: ['<any@harbor.example> NOTIFY=FAILURE'], message: withTo(letter) })
  t.strictSame((await failures(asked)).sort(), wanted.sort())
  const other = await service.makeSender()
  await service.core.accounts.settings.change(other.accountId, { mailReports: true }, OPERATOR)
  const [from, message] = [`desk@${other.domain}`, withTo(letter.replaceAll(desk, `desk@${other.domain}`))]
  const byAccount = await submit(t, { from, recipients: ['<any@harbor.example>'], message }, other.apiKey)
  t.strictSame((await failures(byAccount)).sort(), wanted)
  const never = await submit(t, { from, recipients: ['<any@harbor.example> NOTIFY=NEVER'], message }, other.apiKey)
  await settled(t)
  t.strictSame(about(never), [])
})

t.test('a suppressed recipient is a failure, with its reason', async (t) => {
  const { accountId } = sender
  await service.core.suppressions.add({ accountId, scope: 'address', value: 'lost@harbor.example', reason: 'manual' })
  const id = await submit(t, { recipients: ['<lost@harbor.example> NOTIFY=FAILURE'] })
  const arrived = await notification(id, 'failed')
  t.match(arrived.data.toString(), 'Status: 5.7.1\r\nDiagnostic-Code: x-postrider; Email dropped: User added to')
  t.match((await simpleParser(arrived.data)).text, 'User added to suppression list manually.')
})

t.test('what is not ASCII is written in ASCII in the fields, and as it is in the text', async (t) => {
  const id = await submit(t, {
    mail: ' SMTPUTF8 RET=FULL',
    recipients: ['<gone-jürgen@harbor.example> NOTIFY=FAILURE ORCPT=utf-8;jürgen@harbor.example'],
    message: letter.replace('Berth 4', 'Größe 4'),
  })
  const arrived = await notification(id, 'failed')
  const [, status = '', original = ''] = partsOf(arrived)
  t.match((await simpleParser(arrived.data)).text, 'gone-jürgen@harbor.example')
  t.match(
    status,
    'Original-Recipient: utf-8; j\\x{FC}rgen@harbor.example\r\nFinal-Recipient: utf-8; gone-j\\x{FC}rgen@harbor.example\r\n',
  )
  t.notMatch(status, /[^\r\n -~]/)
  t.match(original, /^\r\nContent-Type: message\/global\r\nContent-Transfer-Encoding: 8bit\r\n/)
})

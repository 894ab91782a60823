import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { simpleParser } from 'mailparser'
import t from 'tap'
import { postrider } from '../cli/postrider.ts'
import { HANG_UP, type SinkMessage, startSink } from '../helpers/sink.ts'
import { notifiedBy, partsOf } from './notified.ts'
import { startOutbox } from './outbox.ts'
import { bounceReport } from './reports.ts'
import { verdictOf } from './tracked.ts'

/** Replies to RCPT by local part. */
const REPLIES: Readonly<Record<string, string>> = {
  xxx: `550 5.1.1 ${'x'.repeat(1500)}`,
  words: `550 5.1.1 ${'word '.repeat(300)}`,
  umlauts: `550 5.1.1 ${'wörd '.repeat(190)}`,
  subject: '550 5.1.1 gone',
  japanese: '550 5.1.1 gone',
  latin: '550 5.1.1 gone',
  whole: '550 5.1.1 gone',
}

const sink = await startSink(t, {
  extensions: ['PIPELINING', 'SIZE 1000000'],
  rcpt: ({ command, before }) => {
    if (command.includes('<lost@')) return before === 0 ? '451 4.3.2 try later' : HANG_UP
    return REPLIES[/<([a-z]+)@/.exec(command)?.[1] ?? '']
  },
})
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
const { service, sender } = outbox
await service.openRelay()
const { letter, submit, notification } = notifiedBy(outbox, sink)

/** Length of the longest line in octets. */
const longest = ({ data }: SinkMessage): number =>
  Math.max(
    ...data
      .toString('latin1')
      .split('\r\n')
      .map((line) => line.length),
  )

const SUBJECTS: Readonly<Record<string, string>> = { subject: 'ü'.repeat(900), japanese: '日 '.repeat(400).trim() }

for (const name of ['xxx', 'words', 'umlauts', 'subject', 'japanese']) {
  t.test(`no line of a notification has more than 998 octets, and all is ASCII: ${name}`, async (t) => {
    const subject = SUBJECTS[name] ?? 'Berth 4'
    const folded = subject.match(/.{1,10}/gu)?.map((piece) => `=?utf-8?B?${Buffer.from(piece).toString('base64')}?=`)
    const message = letter.replace('Berth 4', subject === 'Berth 4' ? subject : `${folded?.join('\r\n ')}`)
    const id = await submit(t, { recipients: [`<${name}@harbor.example> NOTIFY=FAILURE`], message })
    const arrived = await notification(id, 'failed')
    t.ok(longest(arrived) <= 998, `${longest(arrived)} octets`)
    t.match(arrived.data.toString('latin1'), /^[\x00-\x7f]*$/, 'the server has no 8BITMIME')
    t.equal(await verdictOf(sender, service, arrived.data), `pass ${sender.domain}`)
    const { text = '' } = await simpleParser(arrived.data)
    const bare = (written: string): string => written.replace(/\s/g, '')
    t.ok(bare(text).includes(bare(subject).slice(0, 200)), 'the subject is in it')
    t.ok(bare(text).includes(bare(REPLIES[name] ?? '').slice(0, 600)), 'the reply is in it')
    for (const line of text.split('\n')) t.ok(!line.trim().includes(' ') || line.length <= 76, line)
  })
}

t.test('of mail that bounces after it was accepted, it says so, with the codes of the report once', async (t) => {
  const id = await submit(t, { recipients: ['<later@harbor.example> NOTIFY=FAILURE'] })
  await outbox.inState(id, 'delivered')
  const { from = '' } = sink.messages.find(({ to }) => to[0] === 'later@harbor.example') ?? {}
  const file = join(t.testdir({}), 'report.eml')
  writeFileSync(file, bounceReport(from, [{ recipient: 'later@harbor.example' }]))
  t.match((await postrider(service.env, 'returns', 'take', file, '--json')).stdout, '"effect":"bounced"')
  const arrived = await notification(id, 'failed')
  t.match(arrived.data.toString(), /^Diagnostic-Code: smtp; 550 5\.1\.1 <later@harbor\.example>: User unknown\r$/m)
  t.match((await simpleParser(arrived.data)).text, 'reported later that it could not be delivered')
})

t.test('words of this service are not a diagnosis of the server', async (t) => {
  const id = await submit(t, { mail: ' SMTPUTF8', recipients: ['<jürgen@harbor.example> NOTIFY=FAILURE'] })
  const arrived = await notification(id, 'failed')
  const status = (partsOf(arrived)[1] ?? '').replaceAll('\r\n ', ' ')
  t.match(status, 'Status: 5.6.7\r\nDiagnostic-Code: x-postrider; the address requires SMTPUTF8, which the server does')
  t.notMatch(status, 'Remote-MTA')
  t.match((await simpleParser(arrived.data)).text?.replace(/\s+/g, ' '), 'does not support (127.0.0.1)')
})

t.test('after expiry the last reply of the server is given', async (t) => {
  const id = await submit(t, { recipients: ['<lost@harbor.example> NOTIFY=FAILURE'] })
  await outbox.inState(id, 'deferred')
  await outbox.advance(80 * 60)
  const arrived = await notification(id, 'failed')
  const status = (partsOf(arrived)[1] ?? '').replaceAll('\r\n ', ' ')
  t.match(status, 'Status: 4.4.7\r\nRemote-MTA: dns; [127.0.0.1]\r\nDiagnostic-Code: smtp; 451 4.3.2 try later\r\n')
  t.match(
    (await simpleParser(arrived.data)).text?.replace(/\s+/g, ' '),
    'The last reply: 127.0.0.1: 451 4.3.2 try later',
  )
})

t.test('a header in Latin-1 is returned in ASCII', async (t) => {
  for (const [name, mail, type] of [
    ['latin', '', 'text/rfc822-headers'],
    ['whole', ' RET=FULL', 'message/rfc822'],
  ] as const) {
    const message = Buffer.from(letter.replace('Berth 4', 'Größe 4\r\nReferences: <grö@ship.example>'), 'latin1')
    const id = await submit(t, { mail, recipients: [`<${name}@harbor.example> NOTIFY=FAILURE`], message })
    const [, , original = ''] = partsOf(await notification(id, 'failed'))
    t.ok(original.startsWith(`\r\nContent-Type: ${type}\r\n\r\n`), original.slice(0, 100))
    t.match(original, /^Subject: =\?utf-8\?B\?R3LDtsOfZSA0\?=\r$/m)
    t.match(original, /^References: <gr\?@ship\.example>\r$/m)
  }
})

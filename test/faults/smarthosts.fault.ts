import t, { type Test } from 'tap'
import type { SinkMessage } from '../helpers/sink.ts'
import { missingFor } from './smarthosts/machine.ts'
import { PROGRAMS } from './smarthosts/programs.ts'
import { type Fits, HOST, openPost, openStation, type Post, type Station } from './smarthosts/station.ts'

const INVALID_KEY = `pr_${'0'.repeat(43)}`
const BURST = 20

/** Names of programs, separated by commas; default all. */
const only = process.env.ONLY?.split(',')
const post = process.getuid?.() === 0 ? await openPost(t) : undefined

for (const program of PROGRAMS.filter(({ name }) => !only || only.includes(name))) {
  const skip = missingFor(program.packages) ?? false
  t.test(`${program.name} with the relay as its smarthost`, { timeout: 600_000, skip }, async (t) => {
    const station = await openStation(t, program, post as Post)
    for (const [title, check] of Object.entries(CHECKS)) await t.test(title, (t) => check(t, station, post as Post))
  })
}

type Check = (t: Test, station: Station, post: Post) => Promise<void>

const CHECKS: Readonly<Record<string, Check>> = {
  async 'ordinary mail arrives octet for octet below its trace fields'(t, { sender, send, arrived, verdict }) {
    const message = letter(sender.domain, 'ordinary')
    await send(['-i', '-f', `alice@${sender.domain}`, 'lena@harbor.example'], message)
    const mail = await arrived('ordinary mail', subject('ordinary'))
    t.equal(mail.data.toString('latin1').slice(-crlf(message).length), crlf(message))
    t.equal(await verdict(mail), `pass ${sender.domain}`)
  },

  async "cron's mail arrives, with addresses that are complete"(t, { sender, send, arrived, verdict }) {
    await send(CRON, cronMail('cron'))
    const mail = await arrived("cron's mail", subject('cron'))
    t.strictSame(mail.to, [`root@${sender.domain}`])
    t.match(field(mail, 'From'), new RegExp(`root@${sender.domain}`))
    t.match(field(mail, 'To'), new RegExp(`root@${sender.domain}`))
    t.equal(await verdict(mail), `pass ${sender.domain}`)
  },

  async 'mail that the relay refuses comes back to its sender, or its program says so'(t, station) {
    const { sender, sendmail, program, arrived, verdict } = station
    const alice = `alice@${sender.domain}`
    const refused = {
      recipient: { to: 'bad..dots@harbor.example', message: letter(sender.domain, 'recipient') },
      from: { to: 'lena@harbor.example', message: letter('foreign.example', 'from') },
    }
    for (const [name, { to, message }] of Object.entries(refused)) {
      if (name === 'recipient' && program.quotesRecipients) continue
      const { status } = await sendmail(['-i', '-f', alice, to], message)
      // OpenSMTPD's command refuses the recipient itself.
      if (!program.hasQueue || status !== 0) {
        t.not(status, 0, `${name}: it ends with an error`)
        continue
      }
      const bounce = await arrived(
        `the bounce of ${name}`,
        ({ to }, text) => to[0] === alice && text.includes(`${name}.1@`),
      )
      t.equal(bounce.from.includes('alice'), false)
      t.match(field(bounce, 'From'), new RegExp(`@(?:[a-z0-9.]+\\.)?${sender.domain}`), name)
      t.equal(await verdict(bounce), `pass ${sender.domain}`)
    }
  },

  async 'an invalid key loses nothing'(t, { sender, sendmail, program, configure, arrived, found }, { loginRefused }) {
    const bounces: Fits = ({ from, to }) => from === '' && to[0] === `alice@${sender.domain}`
    const before = found(bounces).length
    await configure({ key: INVALID_KEY })
    const sent = await sendmail(
      ['-i', '-f', `alice@${sender.domain}`, 'lena@harbor.example'],
      letter(sender.domain, 'key'),
    )
    if (!program.hasQueue) t.not(sent.status, 0, 'it ends with an error')
    await loginRefused()
    await configure()
    if (!program.hasQueue) return
    if (program.bouncesAtInvalidKey) {
      await arrived('the bounce', (mail, text) => bounces(mail, text) && text.includes('<key.1@'))
      return
    }
    await arrived('mail after the key was corrected', subject('key'))
    t.equal(found(subject('key')).length, 1)
    t.equal(found(bounces).length, before, 'and no bounce')
  },

  async 'a burst arrives once, though the relay is stopped in the middle'(t, station, { stopRelay, startRelay }) {
    const { sender, send, program, arrived, found } = station
    if (!program.hasQueue) return
    for (let number = 1; number <= BURST; number++) {
      const message = letter(sender.domain, `burst-${number}`)
      await send(['-i', '-f', `alice@${sender.domain}`, 'lena@harbor.example'], message)
      if (number === BURST / 2) await stopRelay()
    }
    await startRelay()
    const isOfBurst: Fits = (mail) => field(mail, 'Subject').startsWith('burst-')
    await arrived('the burst', isOfBurst, BURST)
    t.equal(new Set(found(isOfBurst).map((mail) => field(mail, 'Subject'))).size, BURST)
    t.equal(found(isOfBurst).length, BURST)
  },

  async 'a host below the domain sends as itself, if the account lets it'(t, station) {
    const { sender, send, configure, arrived, verdict } = station
    await configure({ domain: `web1.${sender.domain}` })
    await send(ELSEWHERE, cronMail('below'))
    const mail = await arrived('mail of the host', subject('below'))
    t.match(field(mail, 'From'), new RegExp(`root@web1.${sender.domain}`))
    t.equal(await verdict(mail), `pass ${sender.domain}`)
  },

  async 'a host without a domain sends as the fallback sender'(t, station) {
    const { hostless, send, configure, arrived, verdict } = station
    await configure({ domain: HOST, key: hostless.apiKey })
    await send(ELSEWHERE, cronMail('fallback'))
    const mail = await arrived('mail of the host', subject('fallback'))
    t.match(field(mail, 'From'), new RegExp(`hosts@${hostless.domain}`))
    t.match(field(mail, 'Reply-To'), new RegExp(`root@${HOST}`))
    t.equal(await verdict(mail, hostless), `pass ${hostless.domain}`)
    await configure()
  },

  async 'a failure after the relay took the mail is reported to MAIL FROM'(t, { sender, send, program, arrived }) {
    const alice = `alice@${sender.domain}`
    const gone = `gone.${program.name.toLowerCase()}@harbor.example`
    await send(['-i', '-f', alice, gone], letter(sender.domain, 'failure'))
    const report = await arrived(
      'a report',
      ({ from, to }, text) => from === '' && to[0] === alice && text.includes(gone),
    )
    t.match(report.data.toString(), 'Action: failed')
  },

  async 'NOTIFY is answered by mail to MAIL FROM: of a failure with the message, and of a delivery'(t, station) {
    const { sender, send, program, arrived, verdict } = station
    if (!program.notifying) return
    const from = `carol@${sender.domain}`
    const gone = `gone.notify.${program.name.toLowerCase()}@harbor.example`
    const message = letter(sender.domain, 'notify')
    const { args, input } = program.notifying({ from, to: [gone, 'lena@harbor.example'], message })
    await send(args, input)
    const reportOf = (action: string, recipient: string): Promise<SinkMessage> =>
      arrived(
        `a report: ${action}`,
        ({ from: by, to }, text) =>
          by === '' && to[0] === from && text.includes(`Action: ${action}`) && text.includes(recipient),
      )
    const failed = await reportOf('failed', gone)
    t.ok(failed.data.toString('latin1').includes('in the first column'), 'with the message')
    t.equal(await verdict(failed), `pass ${sender.domain}`)
    await reportOf('relayed', 'lena@harbor.example')
  },
}

/** As Debian's cron calls it, and what it writes. */
const CRON = ['-FCronDaemon', '-i', '-B8BITMIME', '-oem', 'root']
/** With another MAILTO. */
const ELSEWHERE = CRON.with(-1, 'lena@harbor.example')
const cronMail = (about: string): string => `From: root (Cron Daemon)
To: root
Subject: ${about}
MIME-Version: 1.0
Content-Type: text/plain; charset=UTF-8
Content-Transfer-Encoding: 8bit
X-Cron-Env: <SHELL=/bin/sh>
X-Cron-Env: <LOGNAME=root>

no space left
`

const crlf = (text: string): string => text.replace(/\n/g, '\r\n')
const subject =
  (about: string): Fits =>
  (message) =>
    field(message, 'Subject') === about

/** Of the header, with what follows in its lines. */
function field({ data }: SinkMessage, name: string): string {
  const [header = ''] = data.toString('latin1').split('\r\n\r\n', 1)
  return new RegExp(`^${name}:(.*(?:\r\n[ \t].*)*)`, 'im').exec(header)?.[1]?.trim() ?? ''
}

/** With what programs are known to change: dots, octets beyond ASCII, blanks at the end, long lines. */
function letter(domain: string, about: string): string {
  return `From: Ship Desk <alice@${domain}>
To: Lena <lena@harbor.example>
Subject: ${about}
Date: Sun, 29 Nov 2026 07:00:00 +0000
Message-ID: <${about}.1@${domain}>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

Gr\xc3\xbc\xc3\x9fe from the quay.
.
..
.hidden
From the quay, in the first column.
blanks at the end  \t
${'0123456789'.repeat(90)}

--${' '}
${'Ship Desk '.repeat(20)}
`
}

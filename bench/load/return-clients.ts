import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { bounceReport } from '../../test/delivery/reports.ts'
import { expectReply, smtpReplies } from '../harness/smtp-replies.ts'

/**
 * SMTP clients that mail a bounce report to each recipient of a file, and measure the wait for each 250; or that name recipients which do not
 * exist, so many a second. Prints one JSON object: seconds, answers (messages or recipients), milliseconds of each wait.
 */
interface Order {
  readonly port: number
  readonly sessions: number
  /** A file with a JSON array: return paths; each gets one report. */
  readonly recipients?: string
  readonly octets?: number
  /** Recipients that do not exist: how many, and how many a second. */
  readonly unknown?: number
  readonly perSecond?: number
}

/** Messages of one session; the server ends it after 50. */
const MESSAGES_A_SESSION = 50

const order = JSON.parse(process.argv[2] ?? '{}') as Order
const recipients = order.recipients ? (JSON.parse(readFileSync(order.recipients, 'utf8')) as string[]) : []
const waits: number[] = []
let [next, left] = [0, order.unknown ?? 0]
let answers = 0

const began = performance.now()
await Promise.all(Array.from({ length: order.sessions }, () => (order.unknown ? flood() : mail())))
const seconds = (performance.now() - began) / 1000
process.stdout.write(JSON.stringify({ seconds, answers, waits }))

async function mail(): Promise<void> {
  while (next < recipients.length) {
    const { socket, reply } = await open()
    for (let count = 0; count < MESSAGES_A_SESSION && next < recipients.length; count++) {
      const to = recipients[next++] as string
      socket.write(`MAIL FROM:<>\r\nRCPT TO:<${to}>\r\nDATA\r\n`)
      for (const code of ['250', '250', '354']) await expectReply(reply(), code)
      const sent = performance.now()
      socket.write(`${reportTo(to, order.octets ?? 4096)}\r\n.\r\n`)
      await expectReply(reply(), '250')
      waits.push(performance.now() - sent)
      answers++
    }
    socket.end('QUIT\r\n')
  }
}

/** Each recipient is refused; the server ends a session after twenty. */
async function flood(): Promise<void> {
  const share = (order.perSecond ?? 1000) / order.sessions
  let sent = 0
  const since = performance.now()
  while (left > 0) {
    const { socket, reply } = await open()
    socket.write('MAIL FROM:<>\r\n')
    await expectReply(reply(), '250')
    for (let count = 0; count < 20 && left > 0; count++, left--, sent++) {
      socket.write(
        `RCPT TO:<b-${String(left)
          .padStart(50, 'a')
          .replace(/[0189]/g, 'z')}@bench.test>\r\n`,
      )
      const text = await reply()
      if (!text.startsWith('550')) throw new Error(`expected 550, got ${text.trim()}`)
      answers++
      const ahead = (sent / share) * 1000 - (performance.now() - since)
      if (ahead > 5) await new Promise((resolve) => setTimeout(resolve, ahead))
    }
    socket.end('QUIT\r\n')
  }
}

function reportTo(to: string, octets: number): string {
  const report = bounceReport(to, [{ status: '5.2.2', diagnostic: '552 5.2.2 Mailbox full' }])
  const end = report.lastIndexOf('--b--')
  const line = `Received: ${'from ship.example by mx.harbor.example '.repeat(2)}\r\n`
  const lines = Math.max(0, Math.ceil((octets - report.length) / line.length))
  return report.slice(0, end) + line.repeat(lines) + report.slice(end).trimEnd()
}

async function open(): Promise<{ readonly socket: Socket; readonly reply: () => Promise<string> }> {
  const socket = await new Promise<Socket>((resolve, reject) => {
    const made = connect({ port: order.port, host: '127.0.0.1', noDelay: true }, () => resolve(made))
    made.once('error', reject)
  })
  const reply = smtpReplies(socket)
  await expectReply(reply(), '220')
  socket.write('EHLO mx.harbor.example\r\n')
  await expectReply(reply(), '250')
  return { socket, reply }
}

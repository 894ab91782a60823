import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { makeMessage } from '../harness/messages.ts'
import { expectReply, smtpReplies } from '../harness/smtp-replies.ts'

/**
 * SMTP clients that measure the wait for each 250, which smtp-source does not, and that can AUTH over TLS. One connection for
 * many messages, envelope pipelined. Prints one JSON object: seconds, messages, milliseconds of each wait.
 */
interface Order {
  readonly port: number
  readonly sessions: number
  readonly messages: number
  readonly octets: number
  readonly from: string
  /** Set: TLS from the first byte, and AUTH PLAIN with it. */
  readonly apiKey?: string
  /** Milliseconds between two messages of one session. */
  readonly pause?: number
  /** Seconds after which no new message is begun. */
  readonly seconds?: number
}

const order = JSON.parse(process.argv[2] ?? '{}') as Order
const message = makeMessage(order.from, order.octets)
const waits: number[] = []
let left = order.messages

const began = performance.now()
await Promise.all(Array.from({ length: order.sessions }, () => session()))
const seconds = (performance.now() - began) / 1000
process.stdout.write(JSON.stringify({ seconds, messages: waits.length, waits }))

async function session(): Promise<void> {
  const socket = await open()
  const reply = smtpReplies(socket)
  await expectReply(reply(), '220')
  socket.write('EHLO bench.test\r\n')
  await expectReply(reply(), '250')
  if (order.apiKey) {
    socket.write(`AUTH PLAIN ${Buffer.from(`\0apikey\0${order.apiKey}`).toString('base64')}\r\n`)
    await expectReply(reply(), '235')
  }
  const over = began + (order.seconds ?? 3600) * 1000
  while (left-- > 0 && performance.now() < over) {
    socket.write(`MAIL FROM:<${order.from}>\r\nRCPT TO:<someone@harbor.example>\r\nDATA\r\n`)
    await expectReply(reply(), '250')
    await expectReply(reply(), '250')
    await expectReply(reply(), '354')
    const sent = performance.now()
    socket.write(`${message}.\r\n`)
    await expectReply(reply(), '250')
    waits.push(performance.now() - sent)
    if (order.pause) await new Promise((resolve) => setTimeout(resolve, order.pause))
  }
  socket.end('QUIT\r\n')
}

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const { port } = order
    const socket = order.apiKey
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => resolve(socket))
      : connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

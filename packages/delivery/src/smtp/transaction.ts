import { setImmediate } from 'node:timers/promises'
import type { DotLeave, Reply, Stage } from '@postrider/core'
import { ConnectionLost, type SmtpConnection } from './connection.ts'
import { dotStuffed, stuffedBlocks } from './dot-stuffing.ts'
import type { SmtpReply } from './reply-reader.ts'
import { TIMEOUTS } from './timeouts.ts'

export interface Transaction {
  /** The return path, without brackets; empty for none. */
  readonly from: string
  readonly to: string
  /** The header fields we add on top, with CRLF. */
  readonly head: string
  /** CRLF line ends only. */
  readonly message: Buffer
  /** An address or header has non-ASCII characters (RFC 6531). */
  readonly utf8: boolean
  /** Asks leave to write the final dot. */
  readonly beforeDot: () => Promise<DotLeave>
}

/** How a transaction ended: the server's verdict and where it fell, or a lost connection. */
export type TransactionEnd =
  | { readonly kind: 'reply'; readonly stage: Stage; readonly reply: Reply }
  /** Nothing can have been delivered. */
  | { readonly kind: 'lost'; readonly stage: Stage; readonly reason: string }
  /** The final dot was written and no reply seen. */
  | { readonly kind: 'indeterminate'; readonly reason: string }
  | { readonly kind: 'lease-lost' }
  /** It may not be sent any more since it was claimed; the final dot was not written, so the server has nothing. */
  | { readonly kind: 'withheld'; readonly reason: string }

/** Below this, body and final dot leave in one write; above it, the body goes first and the dot waits for leave. */
const ONE_WRITE = 64 * 1024

const TOO_LARGE: Reply = { code: 552, enhanced: '5.3.4', text: 'the message is larger than the server takes' }
const NO_UTF8: Reply = {
  code: 550,
  enhanced: '5.6.7',
  text: 'the address needs SMTPUTF8, which the server does not offer',
}

/** Sends one message to one recipient over an open session (RFC 5321 3.3). */
export async function runTransaction(connection: SmtpConnection, transaction: Transaction): Promise<TransactionEnd> {
  const impossible = cannotCarry(connection, transaction)
  if (impossible) return { kind: 'reply', stage: 'mail', reply: impossible }
  connection.transactions++
  try {
    const refused = await envelope(connection, transaction)
    if (refused) return refused
    return await content(connection, transaction)
  } catch (error) {
    if (!(error instanceof ConnectionLost)) throw error
    const { stage, message, unasked } = error
    // A server that has had enough in the middle of a message has given its verdict; 2xx and 3xx before the dot are none.
    if (stage === 'data' && unasked && unasked.code >= 400) return { kind: 'reply', stage, reply: unasked }
    return { kind: 'lost', stage, reason: message }
  }
}

function cannotCarry({ capabilities }: SmtpConnection, { head, message, utf8 }: Transaction): Reply | undefined {
  const most = Number(capabilities.get('SIZE') || 0)
  if (most > 0 && head.length + message.length > most) return TOO_LARGE
  if (utf8 && !capabilities.has('SMTPUTF8')) return NO_UTF8
  return undefined
}

/** MAIL, RCPT, DATA; in one write where the server pipelines. Answers what refused us, or undefined after 354. */
async function envelope(connection: SmtpConnection, transaction: Transaction): Promise<TransactionEnd | undefined> {
  const mail = mailCommand(connection, transaction)
  const rcpt = `RCPT TO:<${transaction.to}>`
  if (!connection.pipelining) {
    const mailReply = await connection.command(mail, 'mail', TIMEOUTS.mail)
    if (!isTaken(mailReply)) return refusal(connection, 'mail', mailReply, false)
    const rcptReply = await connection.command(rcpt, 'rcpt', TIMEOUTS.rcpt)
    if (!isTaken(rcptReply)) return refusal(connection, 'rcpt', rcptReply, true)
    const dataReply = await connection.command('DATA', 'data', TIMEOUTS.data)
    return dataReply.code === 354 ? undefined : refusal(connection, 'data', dataReply, true)
  }
  const replies = [
    connection.reply('mail', TIMEOUTS.mail),
    connection.reply('rcpt', TIMEOUTS.rcpt),
    connection.reply('data', TIMEOUTS.data),
  ] as const
  // Each is awaited below; a connection lost at the first must not leave the others unhandled.
  for (const reply of replies) reply.catch(() => {})
  connection.write(`${mail}\r\n${rcpt}\r\nDATA\r\n`)
  const mailReply = await replies[0]
  if (!isTaken(mailReply)) return afterPipelined(connection, 'mail', mailReply, replies.slice(1))
  const rcptReply = await replies[1]
  if (!isTaken(rcptReply)) return afterPipelined(connection, 'rcpt', rcptReply, replies.slice(2))
  const dataReply = await replies[2]
  return dataReply.code === 354 ? undefined : refusal(connection, 'data', dataReply, true)
}

/**
 * The server refused, with commands behind it still to be answered. Its verdict stands whatever comes of them: many close
 * the connection right after it.
 */
async function afterPipelined(
  connection: SmtpConnection,
  stage: Stage,
  verdict: SmtpReply,
  rest: readonly Promise<SmtpReply>[],
): Promise<TransactionEnd> {
  if (verdict.code !== 421) {
    const last = (await Promise.allSettled(rest)).at(-1)
    const takesData = last?.status === 'fulfilled' && last.value.code === 354
    // It refused the sender and wants the message all the same: an empty one might reach the recipient.
    if (takesData && stage === 'mail') connection.destroy()
    // RFC 2920 3.1: a server may take DATA although nobody is left to get it; an empty message ends that.
    else if (takesData) {
      await connection.command('.', 'data', TIMEOUTS.dot).catch(() => {})
    }
  }
  return refusal(connection, stage, verdict, stage !== 'mail')
}

function mailCommand({ capabilities }: SmtpConnection, { from, head, message, utf8 }: Transaction): string {
  const size = capabilities.has('SIZE') ? ` SIZE=${head.length + message.length}` : ''
  // A server without 8BITMIME gets the octets as they are: converting would break signatures, and in practice all take them.
  const eightBit = capabilities.has('8BITMIME') ? ' BODY=8BITMIME' : ''
  return `MAIL FROM:<${from}>${size}${eightBit}${utf8 ? ' SMTPUTF8' : ''}`
}

/** MAIL and RCPT (RFC 5321 4.3.2); some servers answer 200, or 251 to MAIL. A 220 says that the two are out of step. */
function isTaken({ code }: Reply): boolean {
  return code === 250 || code === 251 || code === 252 || code === 200
}

/** Ends a refused transaction so that the session can carry the next one. */
async function refusal(
  connection: SmtpConnection,
  stage: Stage,
  reply: SmtpReply,
  open: boolean,
): Promise<TransactionEnd> {
  if (reply.code === 421) connection.destroy()
  else if (open && connection.usable) {
    const reset = await connection.command('RSET', 'rset', TIMEOUTS.mail).catch(() => undefined)
    if (reset?.code !== 250) connection.destroy()
  }
  return { kind: 'reply', stage, reply }
}

async function content(connection: SmtpConnection, transaction: Transaction): Promise<TransactionEnd> {
  const { head, message, beforeDot } = transaction
  const end = endsWithCrlf(message) ? '.\r\n' : '\r\n.\r\n'
  const large = message.length > ONE_WRITE
  if (large) {
    connection.write(head)
    // A block at a time, so that a slow server is told from one that stopped reading, and a fast one does not keep all others
    // waiting: where the kernel takes whatever comes, nothing else would have a turn.
    for (const block of stuffedBlocks(message)) {
      connection.write(block)
      await connection.flushed('data')
      await setImmediate()
    }
  }
  const leave = await beforeDot()
  if (leave !== true) {
    // Between DATA and its end there is no other way to take a message back (RFC 5321 4.1.1.4).
    connection.destroy()
    return leave === false ? { kind: 'lease-lost' } : { kind: 'withheld', reason: leave.reason }
  }
  connection.requireOpen('data')
  const verdict = connection.reply('dot', TIMEOUTS.dot)
  if (large) connection.write(end)
  else {
    connection.cork()
    connection.write(head)
    connection.write(dotStuffed(message))
    connection.write(end)
    connection.uncork()
  }
  try {
    const reply = await verdict
    if (reply.code === 421) connection.destroy()
    return { kind: 'reply', stage: 'dot', reply }
  } catch (error) {
    if (!(error instanceof ConnectionLost)) throw error
    return { kind: 'indeterminate', reason: error.message }
  }
}

function endsWithCrlf(message: Buffer): boolean {
  return message.length >= 2 && message[message.length - 2] === 13 && message[message.length - 1] === 10
}

import { setImmediate } from 'node:timers/promises'
import type { Reply, SendPermission, Stage } from '@postrider/core'
import { ConnectionLost } from '../common/smtp-errors.ts'
import type { SmtpConnection } from './connection.ts'
import { dotStuffed, stuffedBlocks } from './dot-stuffing.ts'
import { endsWithCrlf, type MessageOctets } from './message-octets.ts'
import type { SmtpReply } from './reply-reader.ts'
import { MIN_RATE, TIMEOUTS } from './timeouts.ts'

export interface Transaction {
  /** The return path, without angle brackets; empty for the null return path. */
  readonly from: string
  readonly to: string
  /** The header fields added on top, with CRLF. They are awaited only after the reply to DATA. */
  readonly head: string | Promise<string>
  /** Bytes of the head and the message, before dot-stuffing. */
  readonly size: number
  /** Lines end with CRLF only. Released once the kernel has all of it. */
  readonly message: MessageOctets
  /** An address or header contains non-ASCII characters (RFC 6531). */
  readonly utf8: boolean
  /** Why the server cannot carry the message; it is then not offered. */
  readonly obstacle?: Reply | undefined
  /** Requests permission to send end of data. */
  readonly beforeEndOfData: () => Promise<SendPermission>
}

/** How a transaction ended: the server's reply and its stage, or a lost connection. */
export type TransactionEnd =
  | { readonly kind: 'reply'; readonly stage: Stage; readonly reply: Reply }
  /** The message cannot have been delivered. */
  | { readonly kind: 'lost'; readonly stage: Stage; readonly reason: string }
  /** End of data was sent, and no reply arrived. */
  | { readonly kind: 'indeterminate'; readonly reason: string }
  | { readonly kind: 'lease-lost' }
  /** Since its claim the delivery may no longer be sent. End of data was not sent, so the server has no message. */
  | { readonly kind: 'withheld'; readonly reason: string }

/** Up to this size, message and end of data are sent in one write. Above it, the message is sent first, while permission is pending. */
const ONE_WRITE = 64 * 1024

const TOO_LARGE: Reply = {
  code: 552,
  enhanced: '5.3.4',
  text: 'the message exceeds the size limit of the server',
  own: true,
}
const NO_UTF8: Reply = {
  code: 550,
  enhanced: '5.6.7',
  text: 'the address requires SMTPUTF8, which the server does not support',
  own: true,
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
    const { stage, message, unsolicited } = error
    // An error reply in the middle of a message is the server's decision; 2xx and 3xx before end of data are not.
    if (stage === 'data' && unsolicited && unsolicited.code >= 400) return { kind: 'reply', stage, reply: unsolicited }
    return { kind: 'lost', stage, reason: message }
  }
}

function cannotCarry({ capabilities }: SmtpConnection, { size, utf8, obstacle }: Transaction): Reply | undefined {
  if (obstacle) return obstacle
  const limit = Number(capabilities.get('SIZE') || 0)
  if (limit > 0 && size > limit) return TOO_LARGE
  if (utf8 && !capabilities.has('SMTPUTF8')) return NO_UTF8
  return undefined
}

/** Sends MAIL, RCPT and DATA, pipelined if supported. Returns the rejection, or undefined after 354. */
async function envelope(connection: SmtpConnection, transaction: Transaction): Promise<TransactionEnd | undefined> {
  const mail = mailCommand(connection, transaction)
  const rcpt = `RCPT TO:<${transaction.to}>`
  if (!connection.pipelining) {
    const mailReply = await connection.command(mail, 'mail', TIMEOUTS.mail)
    if (!isAccepted(mailReply)) return refusal(connection, 'mail', mailReply, false)
    const rcptReply = await connection.command(rcpt, 'rcpt', TIMEOUTS.rcpt)
    if (!isAccepted(rcptReply)) return refusal(connection, 'rcpt', rcptReply, true)
    const dataReply = await connection.command('DATA', 'data', TIMEOUTS.data)
    return dataReply.code === 354 ? undefined : refusal(connection, 'data', dataReply, true)
  }
  const replies = [
    connection.reply('mail', TIMEOUTS.mail),
    connection.reply('rcpt', TIMEOUTS.rcpt),
    connection.reply('data', TIMEOUTS.data),
  ] as const
  // Each is awaited below; if the connection is lost at the first, the others must not be unhandled rejections.
  for (const reply of replies) reply.catch(() => {})
  connection.write(`${mail}\r\n${rcpt}\r\nDATA\r\n`)
  const mailReply = await replies[0]
  if (!isAccepted(mailReply)) return afterPipelined(connection, 'mail', mailReply, replies.slice(1))
  const rcptReply = await replies[1]
  if (!isAccepted(rcptReply)) return afterPipelined(connection, 'rcpt', rcptReply, replies.slice(2))
  const dataReply = await replies[2]
  return dataReply.code === 354 ? undefined : refusal(connection, 'data', dataReply, true)
}

/**
 * Handles a rejection with pipelined commands still pending. The rejection is final, whatever their replies: many servers close the
 * connection right after it.
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
    // It rejected the sender but accepts data: an empty message might reach the recipient.
    if (takesData && stage === 'mail') connection.destroy()
    // RFC 2920 3.1: a server may accept DATA without a valid recipient; an empty message ends that.
    else if (takesData) {
      await connection.command('.', 'data', TIMEOUTS.dot).catch(() => {})
    }
  }
  return refusal(connection, stage, verdict, stage !== 'mail')
}

function mailCommand({ capabilities }: SmtpConnection, { from, size, utf8 }: Transaction): string {
  const octets = capabilities.has('SIZE') ? ` SIZE=${size}` : ''
  const eightBit = capabilities.has('8BITMIME') ? ' BODY=8BITMIME' : ''
  return `MAIL FROM:<${from}>${octets}${eightBit}${utf8 ? ' SMTPUTF8' : ''}`
}

/** Positive replies to MAIL and RCPT (RFC 5321 4.3.2); some servers reply 200, or 251 to MAIL. 220 means the replies are out of step. */
function isAccepted({ code }: Reply): boolean {
  return code === 250 || code === 251 || code === 252 || code === 200
}

/** Ends a rejected transaction so that the session can carry the next one. */
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
  const { message, beforeEndOfData } = transaction
  const head = await transaction.head
  const end = endsWithCrlf(message.octets) ? '.\r\n' : '\r\n.\r\n'
  const large = message.length > ONE_WRITE
  if (large) {
    connection.write(head)
    await sendBlocks(connection, message)
    message.release()
  }
  const permission = await beforeEndOfData()
  if (permission !== true) {
    // After DATA there is no other way to cancel a message (RFC 5321 4.1.1.4).
    connection.destroy()
    return permission === false ? { kind: 'lease-lost' } : { kind: 'withheld', reason: permission.reason }
  }
  connection.requireOpen('data')
  const verdict = connection.reply('dot', TIMEOUTS.dot)
  if (large) connection.write(end)
  else {
    connection.cork()
    connection.write(head)
    connection.write(dotStuffed(message.octets))
    message.release()
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

/**
 * In blocks, to distinguish a slow server from one that stopped reading, and so that a fast one does not block the event loop: if the kernel
 * accepts everything immediately, nothing else would run.
 */
async function sendBlocks(connection: SmtpConnection, message: MessageOctets): Promise<void> {
  const since = performance.now()
  let sent = 0
  for (const block of stuffedBlocks(message.octets)) {
    connection.write(block)
    await connection.flushed('data')
    sent += block.length
    const ms = performance.now() - since
    if (ms > MIN_RATE.graceMs && sent < (ms / 1000) * MIN_RATE.bytesPerSecond) {
      connection.destroy('the server takes the message too slowly')
      connection.requireOpen('data')
    }
    await setImmediate()
  }
}

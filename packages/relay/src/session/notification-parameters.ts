import { NOTIFY_WORDS, type RecipientNotifications, type StatusNotifications } from '@postrider/core'
import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server'
import { protocolReply } from './replies.ts'

/** Characters of ENVID and ORCPT, as written (RFC 3461 4.4, 4.2). */
const [MAX_ENVELOPE_ID, MAX_ORIGINAL_RECIPIENT] = [100, 500]
/** RFC 3461 4: printable ASCII but `+` and `=`, and any octet as `+` and two capital hexadecimal digits. */
const XTEXT = /^(?:[!-*,-<>-~]|\+[0-9A-F]{2})+$/
/** The same with other characters as such: with SMTPUTF8, an address of the type utf-8 (RFC 6533 3). */
const UTF8_TEXT = /^(?:[!-*,-<>-~\u{a1}-\u{10ffff}]|\+[0-9A-F]{2})+$/u
const CONTROL = /[\x00-\x1f\x7f-\x9f]/

const NONE = { full: false, envelopeId: undefined }
const UNSAID = { notify: undefined, originalRecipient: undefined }

/** Reads RET and ENVID of MAIL (RFC 3461 4.3, 4.4). Throws a reply. */
export function messageNotifications({ args }: SMTPServerAddress): Pick<StatusNotifications, 'full' | 'envelopeId'> {
  if (!args) return NONE
  const { RET, ENVID } = argumentsOf(args)
  return {
    full: RET?.toUpperCase() === 'FULL',
    envelopeId: ENVID === undefined ? undefined : decoded('ENVID', ENVID, { most: MAX_ENVELOPE_ID, pattern: XTEXT }),
  }
}

/** Those of each path: a thousand of them are read at RCPT, and not again in one turn of the loop at DATA. */
const known = new WeakMap<SMTPServerAddress, RecipientNotifications>()

/** Reads NOTIFY and ORCPT of RCPT (RFC 3461 4.1, 4.2). Throws a reply. */
export function recipientNotifications(path: SMTPServerAddress, session: SMTPServerSession): RecipientNotifications {
  if (!path.args) return UNSAID
  const read = known.get(path) ?? readRecipient(argumentsOf(path.args), session)
  known.set(path, read)
  return read
}

function readRecipient(
  { NOTIFY, ORCPT }: ReturnType<typeof argumentsOf>,
  { envelope }: SMTPServerSession,
): RecipientNotifications {
  const words = NOTIFY?.toLowerCase().split(',')
  return {
    // NEVER has none of them. smtp-server refuses other words.
    notify: words && NOTIFY_WORDS.filter((one) => words.includes(one)),
    originalRecipient: ORCPT === undefined ? undefined : originalRecipientOf(ORCPT, envelope.smtpUtf8 === true),
  }
}

function originalRecipientOf(written: string, smtpUtf8: boolean): string {
  const [, type = '', address = ''] = /^([a-z0-9!#$%&'*+/=?^_`{|}~.-]{1,60});(.+)$/is.exec(written) ?? []
  if (type === '') throw invalid('ORCPT', 'must be the type of the address, a semicolon, and the address as xtext')
  const pattern = smtpUtf8 && type.toLowerCase() === 'utf-8' ? UTF8_TEXT : XTEXT
  return `${type};${decoded('ORCPT', address, { most: MAX_ORIGINAL_RECIPIENT, pattern })}`
}

interface Bound {
  readonly most: number
  readonly pattern: RegExp
}

function decoded(name: string, written: string, { most, pattern }: Bound): string {
  if (written.length > most) throw invalid(name, `must be at most ${most} characters`)
  if (!pattern.test(written)) throw invalid(name, 'is not valid xtext')
  const text = fromXtext(written)
  if (text === undefined) throw invalid(name, 'is not valid UTF-8')
  // It is written into a field of the notification.
  if (CONTROL.test(text)) throw invalid(name, 'must not contain control characters')
  return text
}

function fromXtext(written: string): string | undefined {
  try {
    return decodeURIComponent(written.replaceAll('%', '%25').replaceAll('+', '%'))
  } catch {
    return undefined
  }
}

/** smtp-server refuses parameters without a value, and other values of RET. */
function argumentsOf(args: SMTPServerAddress['args']): Record<string, string | undefined> {
  return (args || {}) as Record<string, string>
}

function invalid(name: string, problem: string): Error {
  return protocolReply(501, `5.5.4 Parameter ${name} ${problem}`)
}

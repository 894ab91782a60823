import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server'
import type { ParsedPath } from '../smtp/path.ts'
import { protocolReply } from './replies.ts'

/** RFC 5321 4.1.1.11: an unsupported parameter, such as those of REQUIRETLS or BINARYMIME, must be rejected rather than ignored. */
export function requireKnown({ args }: SMTPServerAddress, known: ReadonlySet<string>): void {
  const unknown = Object.keys(args || {}).find((name) => !known.has(name))
  if (unknown !== undefined) throw protocolReply(555, `5.5.4 Parameter ${unknown} not supported`)
}

/** RFC 6531 3.5: a non-ASCII address without SMTPUTF8 on MAIL is rejected. */
export function requireUtf8(path: SMTPServerAddress, session: SMTPServerSession): void {
  // smtp-server passes on what parsePath returned.
  if (session.envelope.smtpUtf8 || (path as SMTPServerAddress & ParsedPath).ascii) return
  throw protocolReply(553, '5.6.7 Non-ASCII address requires the SMTPUTF8 parameter on MAIL')
}

import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server'
import { requireKnown, requireUtf8 } from './session-parameters.ts'

const RCPT_PARAMETERS = new Set<string>()

/** RCPT TO. Core checks the recipients when it accepts the message. */
export function rcptTo(address: SMTPServerAddress, session: SMTPServerSession): void {
  requireKnown(address, RCPT_PARAMETERS)
  requireUtf8(address, session)
}

import type { SMTPServerAddress, SMTPServerSession } from 'smtp-server'
import { recipientNotifications } from './notification-parameters.ts'
import { requireKnown, requireUtf8 } from './session-parameters.ts'

/** Those of RFC 3461. */
const RCPT_PARAMETERS = new Set(['NOTIFY', 'ORCPT'])

/** RCPT TO. Core checks the recipients when it accepts the message. */
export function rcptTo(address: SMTPServerAddress, session: SMTPServerSession): void {
  requireKnown(address, RCPT_PARAMETERS)
  recipientNotifications(address, session)
  requireUtf8(address, session)
}

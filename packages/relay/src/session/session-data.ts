import {
  nameOf,
  type Principal,
  plainAddress,
  type RawEntry,
  ServiceError,
  type StatusNotifications,
  submitRaw,
} from '@postrider/core'
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import { BodyReservation, collectMessage } from '../message/message-data.ts'
import { messageNotifications, recipientNotifications } from './notification-parameters.ts'
import type { SessionContext } from './session-context.ts'
import { senderOf } from './session-sender.ts'

const SMTP: RawEntry = { door: 'smtp', nameOf }

/** DATA. Returns the text of the reply to the final dot. */
export async function data(
  context: SessionContext,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
): Promise<string> {
  const { core, log, budget, holders } = context
  const { envelope } = session
  const sender = envelope.mailFrom ? envelope.mailFrom.address : ''
  const recipients = envelope.rcptTo.map(({ address }) => address)
  const reservation = new BodyReservation(budget, holders.get(session))
  try {
    const checked = await collectMessage(stream, reservation)
    const principal = await senderOf(context, session)
    const requested = notificationsOf(context, session, principal)
    const { messageId, corrected } = await submitRaw(core, log, {
      ...checked,
      entry: SMTP,
      // A parsed address.
      sender,
      recipients,
      principal,
      notifications: requested && (await requested),
      trace: {
        helo: heloName(session),
        address: plainAddress(session.remoteAddress),
        protocol: protocolOf(session),
      },
      hold() {
        const octets = checked.pieces.reduce((sum, { length }) => sum + length, 0)
        if (!reservation.take(octets))
          throw new ServiceError('overloaded', { reason: 'body budget exhausted by the parts of a message' })
      },
    })
    return `2.0.0 Ok: queued as ${messageId}${corrected ? ` (${corrected})` : ''}`
  } finally {
    reservation.leave()
  }
}

/** Returns whom to notify of the deliveries (RFC 3461); undefined if there are none. */
function notificationsOf(
  { core }: SessionContext,
  session: SMTPServerSession,
  principal: Principal,
): Promise<StatusNotifications | undefined> | undefined {
  const { mailFrom, rcptTo } = session.envelope
  if (!mailFrom || mailFrom.address === '') return undefined
  // Nearly all messages: nothing is requested, by parameters or the account.
  if (!principal.account.mailReports && rcptTo.every(({ args }) => !args)) return undefined
  return core.messages.notificationsFor(principal, {
    to: mailFrom.address,
    ...messageNotifications(mailFrom),
    recipients: new Map(rcptTo.map((path) => [path.address, recipientNotifications(path, session)])),
  })
}

/** RFC 3848, RFC 6531 4.3: ESMTPSA, UTF8SMTPSA and the like. */
function protocolOf({ transmissionType, envelope }: SMTPServerSession): string {
  return envelope.smtpUtf8 ? transmissionType.replace(/^ESMTP/, 'UTF8SMTP') : transmissionType
}

/** The name the client gave in EHLO, if it is valid in a Received field. */
function heloName({ hostNameAppearsAs }: SMTPServerSession): string {
  return /^[a-z0-9.:[\]_-]{1,255}$/i.test(hostNameAppearsAs) ? hostNameAppearsAs : 'unknown'
}

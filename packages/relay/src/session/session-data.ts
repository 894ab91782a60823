import { type Principal, parseAddress, plainAddress, ServiceError, type StatusNotifications } from '@postrider/core'
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import { BodyReservation, collectMessage } from '../message/message-data.ts'
import { unknownTo } from '../smtpapi/smtpapi-lookups.ts'
import { notifySender } from '../smtpapi/smtpapi-notice.ts'
import { messageNotifications, recipientNotifications } from './notification-parameters.ts'
import type { SessionContext } from './session-context.ts'
import { senderOf } from './session-sender.ts'
import { toSubmission } from './to-submission.ts'

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
    const { pieces, lastLongLine, hasOddParts } = await collectMessage(stream, reservation)
    const principal = await senderOf(context, session)
    const requested = notificationsOf(context, session, principal)
    const parsed = await toSubmission({
      pieces,
      lastLongLine,
      hasOddParts,
      recipients,
      nullSender: sender === '',
      // MAIL FROM is a parsed address.
      senderDomain:
        sender === ''
          ? await domainOfBounce(context, recipients, principal)
          : sender.slice(sender.lastIndexOf('@') + 1),
      principal,
      notifications: requested && (await requested),
      trace: {
        helo: heloName(session),
        address: plainAddress(session.remoteAddress),
        protocol: protocolOf(session),
      },
      now: new Date(core.clock.now()),
      hold() {
        const octets = pieces.reduce((sum, { length }) => sum + length, 0)
        if (!reservation.take(octets))
          throw new ServiceError('overloaded', { reason: 'body budget exhausted by the parts of a message' })
      },
      readParts: (message) => core.messages.readParts(message, principal.account.id),
      conformBody: (message) => core.messages.conformBody(message, principal.account.id, { sevenBit: false }),
      senderInstead: (from) => core.messages.senderInstead({ principal, from, nullSender: sender === '', recipients }),
      findForeign: (fields) => core.messages.foreignFields({ principal, fields, nullSender: sender === '' }),
      verifySignatures: (pieces, signatures) =>
        core.messages.verifySignatures({ pieces, signatures, accountId: principal.account.id }),
      unknown: (api) => unknownTo(core, principal.account.id, api),
    })
    const { messageId } = await core.messages.accept(parsed.submission)
    await notifySender({ core, log }, { ...parsed, messageId, to: sender })
    return `2.0.0 Ok: queued as ${messageId}${parsed.corrected ? ` (${parsed.corrected})` : ''}`
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

/** Returns the domain of addresses that have none in a message without a sender: that of its only recipient, if the account may send from it. */
async function domainOfBounce(
  { core }: SessionContext,
  recipients: readonly string[],
  principal: Principal,
): Promise<string | undefined> {
  const domain = recipients.length === 1 ? parseAddress(recipients[0] as string)?.domain : undefined
  const { id, parentId } = principal.account
  return domain !== undefined && (await core.domains.findActive(id, domain, parentId)) ? domain : undefined
}

/** RFC 3848, RFC 6531 4.3: ESMTPSA, UTF8SMTPSA and the like. */
function protocolOf({ transmissionType, envelope }: SMTPServerSession): string {
  return envelope.smtpUtf8 ? transmissionType.replace(/^ESMTP/, 'UTF8SMTP') : transmissionType
}

/** The name the client gave in EHLO, if it is valid in a Received field. */
function heloName({ hostNameAppearsAs }: SMTPServerSession): string {
  return /^[a-z0-9.:[\]_-]{1,255}$/i.test(hostNameAppearsAs) ? hostNameAppearsAs : 'unknown'
}

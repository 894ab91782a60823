import { type ByteBudget, type Core, isReportRole, isTemporary, type Log, NO_EFFECT, networkOf } from '@postrider/core'
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import { BodyReservation, collectMessage } from '../message/message-data.ts'
import { protocolReply } from '../session/replies.ts'
import type { ClientCount } from '../smtp/client-count.ts'

/** Octets of a message. Servers return at most their own limit of a bounce report, usually 50 kB. */
export const MAX_OCTETS = 10 * 1024 * 1024
/**
 * Octets of its beginning that are read: what happened; the rest is the returned message. All connections together hold little more than the
 * budget, and none of them has the thread for long: 1.3 MB of made-up fields took 0.15 s.
 */
const MAX_READ_OCTETS = 256 * 1024

export interface ReturnDataDependencies {
  readonly core: Core
  readonly log: Log
  readonly budget: ByteBudget
  /** For DMARC and TLS reports, which are read as a whole: other mail does not wait for them. */
  readonly reportBudget: ByteBudget
  readonly reportClients: ClientCount
}

/** DATA. What follows from the message is committed when this returns the text of the reply. */
export async function returnData(
  { core, log, budget, reportBudget, reportClients }: ReturnDataDependencies,
  stream: SMTPServerDataStream,
  { envelope, remoteAddress }: SMTPServerSession,
): Promise<string> {
  const recipients = envelope.rcptTo.map(({ address }) => address)
  const client = networkOf(remoteAddress)
  const isReport = recipients.some((address) => isReportAddress(core, address))
  const isBusy = isReport && !reportClients.enter(remoteAddress)
  const reservation = new BodyReservation(isReport ? reportBudget : budget, undefined)
  const collected = isBusy ? 0 : isReport ? MAX_OCTETS : MAX_READ_OCTETS
  try {
    // Not checked: nothing is passed on, and servers report on messages with any octets.
    const { pieces } = await collectMessage(stream, reservation, { most: MAX_OCTETS, collected, checked: false })
    const raw = Buffer.concat(pieces)
    if (isBusy) throw protocolReply(452, '4.7.0 Too many reports at once from your network')
    const mailFrom = envelope.mailFrom ? envelope.mailFrom.address : ''
    const taken = core.returns.take({ raw, size: stream.byteLength, recipients, mailFrom, client })
    const { kind, effect, why } = await taken
    log.info({ kind, effect, why }, 'return received')
    if (isTemporary(why)) throw protocolReply(451, `4.3.0 ${NO_EFFECT[why]}`)
    return '2.0.0 Ok'
  } finally {
    reservation.leave()
    if (isReport && !isBusy) reportClients.leave(remoteAddress)
  }
}

function isReportAddress(core: Core, recipient: string): boolean {
  const address = core.returns.addressOf(recipient)
  return address?.kind === 'role' && isReportRole(address.role)
}

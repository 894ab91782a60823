import { type ByteBudget, type Core, type Log, NO_EFFECT, networkOf } from '@postrider/core'
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import { BodyReservation, collectMessage } from '../message-data.ts'
import { protocolReply } from '../replies.ts'

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
}

/** DATA. What follows from the message is committed when this returns the text of the reply. */
export async function returnData(
  { core, log, budget }: ReturnDataDependencies,
  stream: SMTPServerDataStream,
  { envelope, remoteAddress }: SMTPServerSession,
): Promise<string> {
  const reservation = new BodyReservation(budget, undefined)
  try {
    // Not checked: nothing is passed on, and servers report on messages with any octets.
    const raw = Buffer.concat(
      await collectMessage(stream, reservation, { most: MAX_OCTETS, collected: MAX_READ_OCTETS, checked: false }),
    )
    const recipients = envelope.rcptTo.map(({ address }) => address)
    const client = networkOf(remoteAddress)
    const taken = core.returns.take({ raw, size: stream.byteLength, recipients, client })
    const { kind, effect, why } = await taken
    log.info({ kind, effect, why }, 'return received')
    if (why === 'in-flight') throw protocolReply(451, `4.3.0 ${NO_EFFECT[why]}`)
    return '2.0.0 Ok'
  } finally {
    reservation.leave()
  }
}

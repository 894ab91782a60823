import type { Principal } from '@postrider/core'
import type { SMTPServerSession } from 'smtp-server'
import { authenticateSender } from './network-senders.ts'
import { protocolReply } from './replies.ts'
import type { SessionContext } from './session-context.ts'

/** The sender of the session. Throws 530 if it has no API key. */
export async function senderOf({ core, networks }: SessionContext, session: SMTPServerSession): Promise<Principal> {
  const { user, remoteAddress } = session
  const sender = user ? authenticateSender(core, user as string, remoteAddress) : networks.senderOf(session)
  if (!sender) throw protocolReply(530, '5.7.0 Authentication required')
  return sender
}

import { type Core, type Principal, plainAddress, requireScope } from '@postrider/core'
import type { SMTPServerSession } from 'smtp-server'
import { protocolReply } from './replies.ts'
import type { SessionContext } from './session-context.ts'

/** Commands without authentication after which a session ends, if there are trusted networks. */
const MAX_UNAUTHENTICATED = 20

/** The sender of the session. Throws 530 or 421 if it has no API key. */
export async function senderOf(context: SessionContext, session: SMTPServerSession): Promise<Principal> {
  return await authenticateSender(context.core, secretOf(context, session), session.remoteAddress)
}

/** Authenticates at AUTH, MAIL and DATA: a session or transaction may outlive the validity of its key. */
export async function authenticateSender(core: Core, secret: string, address: string): Promise<Principal> {
  const principal = await core.auth.authenticate(secret, plainAddress(address))
  requireScope(principal, 'send')
  return principal
}

/** The API key of the authenticated user, or RELAY_TRUSTED_KEY for a trusted network. */
function secretOf({ trusted, trustedNetworks, unauthenticated }: SessionContext, session: SMTPServerSession): string {
  const { user, remoteAddress } = session
  if (user) return user as string
  if (trusted && trustedNetworks.has(remoteAddress)) return trusted.apiKey
  const times = (unauthenticated.get(session) ?? 0) + 1
  unauthenticated.set(session, times)
  if (times >= MAX_UNAUTHENTICATED) throw protocolReply(421, '4.7.0 Too many commands without authentication')
  throw protocolReply(530, '5.7.0 Authentication required')
}

import { type Core, ServiceError } from '@postrider/core'
import type { SMTPServerSession } from 'smtp-server'
import { authenticateSender } from './network-senders.ts'
import { replyFor } from './replies.ts'
import type { SessionContext } from './session-context.ts'

/** Failed logins after which a session ends: a client with invalid credentials does not get valid ones by retrying (V06). */
const MAX_FAILED_LOGINS = 10

export interface Login {
  readonly username: string
  readonly secret: string
  readonly address: string
}

/** AUTH. */
export async function logIn(core: Core, { username, secret, address }: Login): Promise<void> {
  const principal = await authenticateSender(core, secret, address)
  const named = username.toLowerCase()
  if (named !== 'apikey' && named !== principal.account.name.toLowerCase()) {
    throw new ServiceError('keyInvalid', { reason: 'user name belongs to another account' })
  }
}

/** The reply to a failed login. RFC 4954 6: 535 for any invalid credentials, 454 if they could not be checked. */
export function loginReply(
  { log, failedLogins }: SessionContext,
  session: SMTPServerSession,
  error: unknown,
): { responseCode: number; message: string } {
  const { responseCode, message } = replyFor(error, log)
  const throttled = error instanceof ServiceError && error.errorName === 'wrongKeysTooMany'
  if (responseCode < 500 && !throttled) return { responseCode: 454, message: '4.7.0 Temporary authentication failure' }
  const failed = (failedLogins.get(session) ?? 0) + 1
  failedLogins.set(session, failed)
  if (failed >= MAX_FAILED_LOGINS) return { responseCode: 421, message: '4.7.0 Too many failed logins' }
  return { responseCode: throttled ? responseCode : 535, message }
}

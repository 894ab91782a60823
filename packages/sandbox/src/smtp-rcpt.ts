import type { SMTPServerSession } from 'smtp-server'
import type { Attempts } from './attempts.ts'
import type { Connections } from './connections.ts'
import { errorReply } from './error-reply.ts'

interface RcptDependencies {
  readonly attempts: Attempts
  readonly connections: Connections
}

/** RCPT TO. `done` is not called if the connection was closed instead. */
export function rcptTo(
  { attempts, connections }: RcptDependencies,
  recipient: string,
  session: SMTPServerSession,
  done: (error?: Error) => void,
): void {
  const played = attempts.behaviour(recipient, session)
  if (played?.at === 'rcpt' || (played?.at === 'limit' && !attempts.acceptWithin(played.perMinute, recipient))) {
    attempts.count(recipient, session)
    done(errorReply(played.reply))
  } else if (played?.at === 'hangup' && played.when === 'rcpt') connections.hangUp(session)
  else if (played?.at === 'tls' && session.secure) {
    connections.breakHandshake()
    done(errorReply({ code: 421, text: '4.7.0 TLS is not available' }))
  } else done()
}

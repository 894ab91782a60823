import type { SMTPServerSession } from 'smtp-server'
import type { Attempts } from './attempts.ts'
import type { Reply } from './behaviours.ts'
import type { Connections } from './connections.ts'
import { errorReply } from './error-reply.ts'
import type { Rejections } from './rejections.ts'

const NO_TLS: Reply = { code: 421, text: '4.7.0 TLS is not available' }

interface RcptDependencies {
  readonly attempts: Attempts
  readonly connections: Connections
  readonly rejections: Rejections
}

/** RCPT TO. `done` is not called if the connection was closed instead. */
export function rcptTo(
  { attempts, connections, rejections }: RcptDependencies,
  recipient: string,
  session: SMTPServerSession,
  done: (error?: Error) => void,
): void {
  const played = attempts.behaviour(recipient, session)
  const { mailFrom } = session.envelope
  const reject = (reply: Reply | undefined) =>
    rejections.add({ from: mailFrom ? mailFrom.address : '', to: recipient, reply })
  if (played?.at === 'rcpt' || (played?.at === 'limit' && !attempts.acceptWithin(played.perMinute, recipient))) {
    attempts.count(recipient, session)
    reject(played.reply)
    done(errorReply(played.reply))
  } else if (played?.at === 'hangup' && played.when === 'rcpt') {
    reject(undefined)
    connections.hangUp(session)
  } else if (played?.at === 'tls' && session.secure) {
    connections.breakHandshake()
    reject(NO_TLS)
    done(errorReply(NO_TLS))
  } else done()
}

import { messageTooLarge, ServiceError } from '@postrider/core'
import type { SMTPServerAddress, SMTPServerOptions, SMTPServerSession } from 'smtp-server'
import { asReply, protocolReply } from '../session/replies.ts'
import { requireKnown, requireUtf8 } from '../session/session-parameters.ts'
import type { ClientCount } from '../smtp/client-count.ts'
import { MAX_OCTETS, type ReturnDataDependencies, returnData } from './return-data.ts'
import type { SessionTime } from './session-time.ts'

export interface ReturnSessionDependencies extends ReturnDataDependencies {
  readonly clients: ClientCount
  readonly time: SessionTime
}

const MAX_MESSAGES = 50
/** Refused recipients in one session that get their reply at once; and the milliseconds by which each further reply is delayed. */
const MAX_AT_ONCE = 20
const DELAY_MS = 1000
const MAIL_PARAMETERS = new Set(['SIZE', 'BODY', 'SMTPUTF8'])
const RCPT_PARAMETERS = new Set<string>()

const UNKNOWN_MAILBOX = protocolReply(
  550,
  '5.1.1 No mailbox here by that name; return paths of mail that was sent long ago are no longer valid',
)

/** Mail to the operator at a host that is not, or no longer, one of the service. */
const OTHER_HOST = protocolReply(
  550,
  '5.1.1 Mail to the operator is not taken at this host name, only at that of the return paths',
)

/** The handlers of a session. Until DATA, none of them asks the database: a flood of invalid recipients costs it nothing. */
export function returnHandlers(dependencies: ReturnSessionDependencies): Partial<SMTPServerOptions> {
  const { core, log, clients, time } = dependencies
  const counted = new WeakSet<SMTPServerSession>()
  const messages = new WeakMap<SMTPServerSession, number>()
  const refused = new WeakMap<SMTPServerSession, number>()
  const replying = (act: () => void, done: (error?: Error | null) => void): void => {
    try {
      act()
      done()
    } catch (error) {
      done(asReply(error, log))
    }
  }
  return {
    onConnect: (session, done) =>
      replying(() => {
        if (!clients.enter(session.remoteAddress))
          throw protocolReply(421, '4.7.0 Too many connections from your network')
        counted.add(session)
      }, done),
    onClose(session) {
      if (counted.delete(session)) clients.leave(session.remoteAddress)
    },
    onMailFrom: (address, session, done) =>
      replying(() => {
        const count = (messages.get(session) ?? 0) + 1
        messages.set(session, count)
        if (count > MAX_MESSAGES) throw protocolReply(421, '4.7.0 Too many messages in one session')
        if (!core.readiness.current().ready) throw new ServiceError('notReady')
        mailFrom(address, session)
      }, done),
    onRcptTo: (address, session, done) =>
      replying(
        () => {
          requireKnown(address, RCPT_PARAMETERS)
          requireUtf8(address, session)
          if (core.returns.addressOf(address.address)) return
          throw core.returns.isRoleName(address.address) ? OTHER_HOST : UNKNOWN_MAILBOX
        },
        (error) => {
          if (error !== UNKNOWN_MAILBOX && error !== OTHER_HOST) return done(error)
          const count = (refused.get(session) ?? 0) + 1
          refused.set(session, count)
          if (count <= MAX_AT_ONCE) done(error)
          else setTimeout(done, DELAY_MS, error)
        },
      ),
    onData(stream, session, done) {
      returnData(dependencies, stream, session).then(
        (text) => {
          time.noteTaken(session)
          done(null, text)
        },
        (error: unknown) => done(asReply(stream.sizeExceeded ? messageTooLarge(MAX_OCTETS) : error, log)),
      )
    },
  }
}

/** MAIL FROM: any sender, usually the null sender. */
function mailFrom(address: SMTPServerAddress, session: SMTPServerSession): void {
  requireKnown(address, MAIL_PARAMETERS)
  const { SMTPUTF8 } = address.args || {}
  // Reset each time, since smtp-server keeps it from a MAIL that was rejected.
  session.envelope.smtpUtf8 = SMTPUTF8 === true
  requireUtf8(address, session)
}

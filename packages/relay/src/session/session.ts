import { count, messageTooLarge } from '@postrider/core'
import type { SMTPServerOptions } from 'smtp-server'
import { asReply, protocolReply } from './replies.ts'
import { logIn, loginReply } from './session-auth.ts'
import { createSessionContext, type SessionDependencies } from './session-context.ts'
import { data } from './session-data.ts'
import { mailFrom } from './session-mail.ts'
import { rcptTo } from './session-rcpt.ts'

/** The handlers of a session, each a thin layer around a call to core. */
export function sessionHandlers(dependencies: SessionDependencies): Partial<SMTPServerOptions> {
  const { core, log, limits, networks } = dependencies
  const context = createSessionContext(dependencies)
  return {
    onConnect(session, done) {
      // At once: a client that is gone before the list is read is counted by then, and leaves.
      if (!limits.enter(session)) return done(protocolReply(421, '4.7.0 Too many connections from your network'))
      networks.enter(session).then(
        () => done(),
        (error: unknown) => done(asReply(error, log)),
      )
    },
    onClose(session) {
      limits.leave(session)
    },
    onAuth({ username = '', password }, session, done) {
      logIn(core, { username, secret: password ?? '', address: session.remoteAddress }).then(
        // The key itself, since it is authenticated again for every message: it may be revoked meanwhile.
        () => {
          count('smtp_logins_total', { result: 'accepted' })
          limits.noteAuthenticated(session)
          done(null, { user: password })
        },
        (error: unknown) => {
          const reply = loginReply(context, session, error)
          count('smtp_logins_total', { result: reply.responseCode === 454 ? 'failed' : 'refused' })
          done(null, reply)
        },
      )
    },
    onMailFrom(address, session, done) {
      mailFrom(context, address, session).then(
        () => done(),
        (error: unknown) => done(asReply(error, log)),
      )
    },
    onRcptTo(address, session, done) {
      try {
        rcptTo(address, session)
        done()
      } catch (error) {
        done(asReply(error, log))
      }
    },
    onData(stream, session, done) {
      data(context, stream, session).then(
        (text) => done(null, text),
        (error: unknown) => done(asReply(stream.sizeExceeded ? messageTooLarge() : error, log)),
      )
    },
  }
}

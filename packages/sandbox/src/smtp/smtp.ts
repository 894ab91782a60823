import type { Certificate, Clock, Log } from '@postrider/core'
import { SMTPServer } from 'smtp-server'
import type { Inbox } from '../inbox.ts'
import { Attempts } from './attempts.ts'
import { Connections } from './connections.ts'
import type { Rejections } from './rejections.ts'
import type { ReportSender } from './report-sender.ts'
import { data } from './smtp-data.ts'
import { rcptTo } from './smtp-rcpt.ts'

/** Larger than any message the service sends. */
const SIZE = 64 * 1024 * 1024

export interface SandboxSmtpOptions {
  readonly inbox: Inbox
  readonly rejections: Rejections
  readonly reports: ReportSender
  readonly certificate: Certificate
  readonly name: string
  readonly log: Log
  readonly clock: Clock
}

/** The SMTP server of the sandbox: accepts mail for all recipients, or simulates a provider's failures. */
export function createSandboxSmtp({
  inbox,
  rejections,
  reports,
  certificate,
  name,
  log,
  clock,
}: SandboxSmtpOptions): SMTPServer {
  const server: SMTPServer = new SMTPServer({
    ...certificate,
    name,
    heloResponse: '%s greets %s',
    size: SIZE,
    rejectOversized: true,
    authOptional: true,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: true,
    logger: false,
    onConnect: (session, done) => {
      connections.mayBreakTls(session)
      done()
    },
    onAuth: (auth, _session, done) => done(null, { user: auth.username ?? 'anybody' }),
    onRcptTo: ({ address }, session, done) => rcptTo({ attempts, connections, rejections }, address, session, done),
    onData: (stream, session, done) => {
      data({ inbox, attempts, connections, rejections, reports }, stream, session).then((text) => {
        if (text !== undefined) done(null, text)
      }, done)
    },
  })
  const attempts = new Attempts(clock)
  const connections = new Connections(server)
  // Without a listener, one invalid TLS record would end the process.
  server.on('error', (err) => log.debug({ err }, 'connection failed'))
  return server
}

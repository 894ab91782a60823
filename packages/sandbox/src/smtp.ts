import type { Certificate, Log } from '@postrider/core'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import { type Behaviour, behaviourOf, type Reply } from './behaviours.ts'
import type { Inbox, Received } from './inbox.ts'

/** Larger than any message the service sends. */
const SIZE = 64 * 1024 * 1024
/** Maximum number of deliveries whose attempts are counted. */
const MAX_TRIES = 100_000

export interface SandboxSmtpOptions {
  readonly inbox: Inbox
  readonly certificate: Certificate
  readonly name: string
  readonly log: Log
}

type Connection = SMTPServer['connections'] extends Set<infer Member> ? Member : never

interface PlayedError extends Error {
  responseCode: number
}

/** The SMTP server of the sandbox: accepts mail for all recipients, or simulates a provider's failures. */
export function createSandboxSmtp({ inbox, certificate, name, log }: SandboxSmtpOptions): SMTPServer {
  /** Attempts by return path and recipient. A return path belongs to one delivery, so these identify it. */
  const tries = new Map<string, number>()
  let brokenHandshakes = 0

  const server = new SMTPServer({
    ...certificate,
    name,
    size: SIZE,
    rejectOversized: true,
    authOptional: true,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: true,
    logger: false,
    onConnect: (session, done) => {
      mayBreakTls(session)
      done()
    },
    onAuth: (auth, _session, done) => done(null, { user: auth.username ?? 'anybody' }),
    onRcptTo: (address, session, done) => {
      const played = play(address.address, session)
      if (played?.at === 'rcpt') {
        count(address.address, session)
        done(refusal(played.reply))
      } else if (played?.at === 'hangup' && played.when === 'rcpt') hangUp(session)
      else if (played?.at === 'tls' && session.secure) {
        brokenHandshakes++
        done(refusal({ code: 421, text: '4.7.0 TLS is not available' }))
      } else done()
    },
    onData: (stream, session, done) => {
      takeMessage(stream, session).then((text) => {
        if (text !== undefined) done(null, text)
      }, done)
    },
  })
  // Without a listener, one invalid TLS record would end the process.
  server.on('error', (err) => log.debug({ err }, 'connection failed'))
  return server

  function play(recipient: string, session: SMTPServerSession): Behaviour | undefined {
    return behaviourOf(recipient, tries.get(key(recipient, session)) ?? 0)
  }

  function key(recipient: string, session: SMTPServerSession): string {
    const { mailFrom } = session.envelope
    return `${mailFrom ? mailFrom.address : ''} ${recipient}`
  }

  /** Returns the text of the 250 reply, or undefined if the connection was closed instead. Throws an error reply. */
  async function takeMessage(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string | undefined> {
    const received = await inbox.receive(withinSize(stream))
    try {
      if (stream.sizeExceeded) throw refusal({ code: 552, text: '5.3.4 The message is too large' })
      return await deliver(received, session)
    } finally {
      await inbox.discard(received)
    }
  }

  async function deliver(received: Received, session: SMTPServerSession): Promise<string | undefined> {
    const from = session.envelope.mailFrom ? session.envelope.mailFrom.address : ''
    let stored = ''
    let hungUp = false
    for (const { address } of session.envelope.rcptTo) {
      const played = play(address, session)
      count(address, session)
      if (played?.at === 'dot') throw refusal(played.reply)
      if (played?.at === 'slow') await new Promise((resolve) => setTimeout(resolve, played.milliseconds))
      if (played?.at === 'hangup') hungUp = true
      if (played?.at !== 'hangup' || played.stored) stored = (await inbox.add(from, address, received)).id
    }
    if (!hungUp) return `2.0.0 Ok: stored as ${stored}`
    hangUp(session)
    return undefined
  }

  function count(recipient: string, session: SMTPServerSession): void {
    if (tries.size >= MAX_TRIES) tries.clear()
    const name = key(recipient, session)
    tries.set(name, (tries.get(name) ?? 0) + 1)
  }

  function refusal({ code, text }: Reply): PlayedError {
    return Object.assign(new Error(text), { responseCode: code })
  }

  /** Not done in SNICallback: its errors are ignored, and many clients send no server name. */
  function mayBreakTls(session: SMTPServerSession): void {
    const connection = connectionOf(session)
    const upgrade = connection?.upgrade.bind(connection)
    if (!connection || !upgrade) return
    connection.upgrade = (...args) => {
      if (brokenHandshakes === 0) return upgrade(...args)
      brokenHandshakes--
      connection._socket.end('this is not TLS\r\n')
    }
  }

  function hangUp(session: SMTPServerSession): void {
    connectionOf(session)?._socket.destroy()
  }

  function connectionOf({ id }: SMTPServerSession): Connection | undefined {
    return [...server.connections].find((connection) => connection.id === id)
  }
}

/** Reads and discards what exceeds the limit: the message is rejected at its end. */
async function* withinSize(stream: SMTPServerDataStream): AsyncGenerator<Buffer> {
  for await (const piece of stream) {
    if (!stream.sizeExceeded) yield piece
  }
}

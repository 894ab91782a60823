import type { Step } from '@postrider/core'
import { elapsed, openSocket, type SmtpConnection } from './connection.ts'
import { type Endpoint, hostKey, placeOf } from './endpoint.ts'
import { ConnectionLost, SessionRefused } from './errors.ts'
import type { SmtpReply } from './reply-reader.ts'
import { TIMEOUTS } from './timeouts.ts'

/** State of hosts that sessions share: TLS sessions to resume, and hosts whose TLS is broken. Bounded. `host` is a {@link hostKey}. */
export class HostMemory {
  readonly #sessions = new Map<string, Buffer>()
  readonly #brokenUntil = new Map<string, number>()
  /** Milliseconds during which a host whose TLS failed is contacted in plain text. */
  static readonly BROKEN_MS = 3_600_000
  static readonly MOST = 10_000

  session(host: string): Buffer | undefined {
    return this.#sessions.get(host)
  }

  keepSession(host: string, session: Buffer): void {
    bounded(this.#sessions)
    this.#sessions.set(host, session)
  }

  tlsIsBroken(host: string): boolean {
    return (this.#brokenUntil.get(host) ?? 0) > performance.now()
  }

  markTlsBroken(host: string): void {
    bounded(this.#brokenUntil)
    this.#sessions.delete(host)
    this.#brokenUntil.set(host, performance.now() + HostMemory.BROKEN_MS)
  }
}

function bounded(map: Map<string, unknown>): void {
  if (map.size < HostMemory.MOST) return
  const oldest = map.keys().next()
  if (!oldest.done) map.delete(oldest.value)
}

export interface SessionOptions {
  readonly heloName: string
  readonly memory: HostMemory
  /** Receives the steps of sessions that failed. */
  readonly steps: Step[]
  /** Without TLS there is no session. The certificate is not verified: hosts of mail rarely have one for the name in the MX record. */
  readonly tlsRequired?: boolean
  /** Called with each connection that was opened, at once. The one before it is closed. */
  readonly opened?: (connection: SmtpConnection) => void
}

/**
 * Connects and prepares a session: greeting, EHLO (or HELO if it is rejected), STARTTLS if offered, and AUTH if there are credentials.
 * If TLS fails, the host is tried again in plain text (opportunistic, RFC 7435), unless its certificate must be verified.
 *
 * Throws {@link ConnectionLost} or {@link SessionRefused}.
 */
export async function openSession(endpoint: Endpoint, options: SessionOptions): Promise<SmtpConnection> {
  try {
    return await openOnce(endpoint, options)
  } catch (error) {
    const tlsFailed = error instanceof ConnectionLost && error.stage === 'tls'
    if (!tlsFailed || endpoint.verify || endpoint.implicitTls || options.tlsRequired) throw error
    options.memory.markTlsBroken(hostKey(endpoint))
    return openOnce(endpoint, options)
  }
}

async function openOnce(endpoint: Endpoint, options: SessionOptions): Promise<SmtpConnection> {
  const { heloName, memory, steps, tlsRequired = false } = options
  const connection = await connect(endpoint, steps)
  options.opened?.(connection)
  try {
    const greeting = await connection.reply('greeting', TIMEOUTS.greeting)
    if (greeting.code !== 220) throw new SessionRefused('greeting', greeting)
    await hello(connection, heloName)
    if (
      !connection.tls &&
      connection.capabilities.has('STARTTLS') &&
      (tlsRequired || !memory.tlsIsBroken(hostKey(endpoint)))
    )
      await startTls(connection, options)
    if (!connection.tls && tlsRequired)
      throw new ConnectionLost('starttls', 'the host does not offer TLS, which is required for this provider')
    if (endpoint.credentials) await authenticate(connection)
    return connection
  } catch (error) {
    connection.destroy()
    steps.push(...connection.takeSteps())
    await connection.closed
    throw error
  }
}

async function connect(endpoint: Endpoint, steps: Step[]): Promise<SmtpConnection> {
  const since = performance.now()
  try {
    return await openSocket(endpoint)
  } catch (error) {
    if (error instanceof ConnectionLost)
      steps.push({ step: error.stage, ms: elapsed(since), text: `${placeOf(endpoint)}: ${error.message}` })
    throw error
  }
}

async function hello(connection: SmtpConnection, heloName: string): Promise<void> {
  const ehlo = await connection.command(`EHLO ${heloName}`, 'ehlo', TIMEOUTS.ehlo)
  if (ehlo.code === 250) {
    connection.capabilities = capabilitiesOf(ehlo)
    return
  }
  const helo = ehlo.code >= 500 ? await connection.command(`HELO ${heloName}`, 'ehlo', TIMEOUTS.ehlo) : ehlo
  if (helo.code !== 250) throw new SessionRefused('ehlo', helo)
  connection.capabilities = new Map()
}

function capabilitiesOf({ lines }: SmtpReply): Map<string, string> {
  const capabilities = new Map<string, string>()
  for (const line of lines.slice(1)) {
    const [keyword = '', ...parameters] = line.trim().split(/[ =]/)
    capabilities.set(keyword.toUpperCase(), parameters.join(' '))
  }
  return capabilities
}

async function startTls(connection: SmtpConnection, { memory, heloName }: SessionOptions): Promise<void> {
  const host = hostKey(connection.endpoint)
  try {
    const ready = await connection.command('STARTTLS', 'starttls', TIMEOUTS.starttls)
    // A server that offers STARTTLS and then rejects it is used in plain text on the same connection.
    if (ready.code !== 220) return
    await connection.startTls(memory.session(host), (session) => memory.keepSession(host, session))
    await hello(connection, heloName)
  } catch (error) {
    // At any stage: under TLS 1.3, a server that rejects the handshake reports it only after the client's side has finished.
    if (error instanceof ConnectionLost) throw new ConnectionLost('tls', error.message)
    throw error
  }
}

/** AUTH PLAIN or LOGIN (RFC 4954); without TLS only to this host. */
async function authenticate(connection: SmtpConnection): Promise<void> {
  const { credentials, verify } = connection.endpoint
  if (!credentials) return
  if (!connection.tls && verify)
    throw new ConnectionLost('auth', 'the relay host does not offer TLS, which is required to send the password')
  const methods = (connection.capabilities.get('AUTH') ?? '').toUpperCase().split(' ')
  const { user, password } = credentials
  const encoded = (text: string) => Buffer.from(text).toString('base64')
  let reply: SmtpReply
  if (methods.includes('LOGIN') && !methods.includes('PLAIN')) {
    reply = await connection.command('AUTH LOGIN', 'auth', TIMEOUTS.auth)
    if (reply.code === 334) reply = await connection.command(encoded(user), 'auth', TIMEOUTS.auth)
    if (reply.code === 334) reply = await connection.command(encoded(password), 'auth', TIMEOUTS.auth)
  } else {
    reply = await connection.command(`AUTH PLAIN ${encoded(`\0${user}\0${password}`)}`, 'auth', TIMEOUTS.auth)
  }
  if (reply.code !== 235) throw new SessionRefused('auth', reply)
}

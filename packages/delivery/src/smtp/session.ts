import type { Step, TlsLevel } from '@postrider/core'
import { type Endpoint, hostKey, hostLabel } from '../common/endpoint.ts'
import {
  AuthorityFound,
  CertificateRefused,
  ConnectionLost,
  SessionRefused,
  TlsRefused,
} from '../common/smtp-errors.ts'
import { levelAt } from '../tls/host-level.ts'
import { daneText } from '../tls/secure-mx.ts'
import { elapsed, openSocket, type SmtpConnection } from './connection.ts'
import { cutText, MAX_KEPT_BYTES, type SmtpReply } from './reply-reader.ts'
import type { Ticket } from './secure.ts'
import { TIMEOUTS } from './timeouts.ts'

/** State of hosts that sessions share: TLS sessions to resume, and hosts whose TLS is broken. Bounded. `host` is a {@link hostKey}. */
export class HostMemory {
  readonly #tickets = new Map<string, Ticket>()
  readonly #brokenUntil = new Map<string, number>()
  /** Certificates of authorities, by a key as of tickets. */
  readonly #authorities = new Map<string, readonly string[]>()
  /** Milliseconds during which a host whose TLS failed is contacted in plain text. */
  static readonly BROKEN_MS = 3_600_000
  static readonly MOST = 10_000
  static readonly MAX_AUTHORITIES = 1000

  /**
   * The ticket of the last session with the host, of which as much was demanded. A session that began with less is never resumed: without
   * a verified certificate it would pass for verified.
   */
  ticket({ endpoint, level }: SmtpConnection): Ticket | undefined {
    return this.#tickets.get(ticketKey(endpoint, level))
  }

  keepTicket({ endpoint, level }: SmtpConnection, ticket: Ticket): void {
    bounded(this.#tickets)
    this.#tickets.set(ticketKey(endpoint, level), ticket)
  }

  forgetTicket(endpoint: Endpoint, level: TlsLevel): void {
    this.#tickets.delete(ticketKey(endpoint, level))
  }

  /** The authorities of the host's TLSA records that it has sent, in PEM. */
  authorities(endpoint: Endpoint): readonly string[] | undefined {
    return this.#authorities.get(ticketKey(endpoint, 'dane'))
  }

  keepAuthorities(endpoint: Endpoint, authorities: readonly string[]): void {
    bounded(this.#authorities, HostMemory.MAX_AUTHORITIES)
    this.#authorities.set(ticketKey(endpoint, 'dane'), authorities)
  }

  tlsIsBroken(host: string): boolean {
    return (this.#brokenUntil.get(host) ?? 0) > performance.now()
  }

  markTlsBroken(host: string): void {
    bounded(this.#brokenUntil)
    this.#brokenUntil.set(host, performance.now() + HostMemory.BROKEN_MS)
  }
}

function ticketKey(endpoint: Endpoint, level: TlsLevel): string {
  const policy = endpoint.dane ? ` ${daneText(endpoint.dane)}` : ''
  return `${level}${endpoint.verify ? ' with password' : ''}${policy} ${hostKey(endpoint)}`
}

function bounded(map: Map<string, unknown>, most = HostMemory.MOST): void {
  if (map.size < most) return
  const oldest = map.keys().next()
  if (!oldest.done) map.delete(oldest.value)
}

export interface SessionOptions {
  readonly heloName: string
  readonly memory: HostMemory
  /** Receives the steps of sessions that failed. */
  readonly steps: Step[]
  /** The TLS level that is demanded; opportunistic if undefined. */
  readonly level?: TlsLevel
  /** Called with each connection that was opened, at once. The one before it is closed. */
  readonly opened?: (connection: SmtpConnection) => void
}

const TLS_IS_BROKEN = 'not used: TLS with this host failed within the last hour, so plain text is used'

function isDemanded(level: TlsLevel = 'opportunistic'): boolean {
  return level !== 'opportunistic'
}

/**
 * Connects and prepares a session: greeting, EHLO (or HELO if it is rejected), STARTTLS if offered, and AUTH if there are credentials.
 * If TLS fails, the host is tried again in plain text (opportunistic, RFC 7435), unless TLS is demanded.
 *
 * Throws {@link ConnectionLost}, {@link SessionRefused}, or {@link TlsRefused} if the TLS that is demanded cannot be had.
 */
export async function openSession(endpoint: Endpoint, given: SessionOptions): Promise<SmtpConnection> {
  const level = levelAt(endpoint, given.level)
  const options = { ...given, level }
  const { memory } = options
  try {
    return await openKnowing(endpoint, options)
  } catch (error) {
    if (!(error instanceof ConnectionLost && error.stage === 'tls')) throw error
    // It may be the reason, and the next attempt must not fail because of it.
    memory.forgetTicket(endpoint, level)
    if (isDemanded(level)) {
      const result = error instanceof CertificateRefused ? error.result : 'validation-failure'
      const refusal = { stage: 'tls', enhanced: '4.7.5', result } as const
      throw new TlsRefused(refusal, `TLS is required, but could not be started: ${error.message}`)
    }
    if (endpoint.verify || endpoint.implicitTls) throw error
    memory.markTlsBroken(hostKey(endpoint))
    return openOnce(endpoint, options)
  }
}

/** Connects once more if the authority that a TLSA record names was seen for the first time. */
async function openKnowing(endpoint: Endpoint, options: SessionOptions): Promise<SmtpConnection> {
  try {
    return await openOnce(endpoint, options)
  } catch (error) {
    if (!(error instanceof AuthorityFound)) throw error
    options.memory.keepAuthorities(endpoint, error.authorities)
  }
  try {
    return await openOnce(endpoint, options)
  } catch (error) {
    if (error instanceof AuthorityFound) throw new ConnectionLost('tls', 'the server changes its certificates')
    throw error
  }
}

async function openOnce(endpoint: Endpoint, options: SessionOptions): Promise<SmtpConnection> {
  const { heloName, memory, steps, level } = options
  const connection = await connect(endpoint, options)
  options.opened?.(connection)
  try {
    const greeting = await connection.reply('greeting', TIMEOUTS.greeting)
    if (greeting.code !== 220) throw new SessionRefused('greeting', greeting)
    await hello(connection, heloName)
    if (!connection.tls && connection.capabilities.has('STARTTLS')) {
      if (isDemanded(level) || !memory.tlsIsBroken(hostKey(endpoint))) await startTls(connection, options)
      else connection.note({ step: 'starttls', ms: 0, text: TLS_IS_BROKEN })
    }
    if (!connection.tls && isDemanded(level)) {
      const refusal = { stage: 'starttls', enhanced: '4.7.4', result: 'starttls-not-supported' } as const
      throw new TlsRefused(refusal, `TLS is required, but was not offered by host ${hostLabel(endpoint)}`)
    }
    if (endpoint.credentials) await authenticate(connection)
    return connection
  } catch (error) {
    connection.destroy()
    steps.push(...connection.takeSteps())
    await connection.closed
    throw error
  }
}

async function connect(
  endpoint: Endpoint,
  { steps, level = 'opportunistic' }: SessionOptions,
): Promise<SmtpConnection> {
  const since = performance.now()
  try {
    return await openSocket(endpoint, level)
  } catch (error) {
    if (error instanceof ConnectionLost)
      steps.push({ step: error.stage, ms: elapsed(since), text: `${hostLabel(endpoint)}: ${error.message}` })
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

async function startTls(connection: SmtpConnection, { memory, heloName, level }: SessionOptions): Promise<void> {
  try {
    const ready = await connection.command('STARTTLS', 'starttls', TIMEOUTS.starttls)
    if (ready.code !== 220) {
      // A server that offers STARTTLS and then rejects it is used in plain text on the same connection.
      if (!isDemanded(level)) return
      const text = `TLS is required, but host ${hostLabel(connection.endpoint)} refused to start TLS: ${ready.code} ${ready.text}`
      const refusal = { stage: 'starttls', enhanced: '4.7.4', result: 'validation-failure' } as const
      throw new TlsRefused(refusal, cutText(text, MAX_KEPT_BYTES))
    }
    await connection.startTls({
      ticket: memory.ticket(connection),
      onTicket: (ticket) => memory.keepTicket(connection, ticket),
      authorities: memory.authorities(connection.endpoint),
    })
    noteDane(connection)
    await hello(connection, heloName)
  } catch (error) {
    // At any stage: under TLS 1.3, a server that rejects the handshake reports it only after the client's side has finished.
    if (error instanceof CertificateRefused || !(error instanceof ConnectionLost)) throw error
    throw new ConnectionLost('tls', error.message)
  }
}

function noteDane(connection: SmtpConnection): void {
  const { acceptedBy, endpoint } = connection
  if (acceptedBy !== undefined)
    connection.note({ step: 'dane', ms: 0, text: `the certificate matches a TLSA record ${acceptedBy}` })
  else if (endpoint.dane?.kind === 'unusable')
    connection.note({ step: 'dane', ms: 0, text: 'no TLSA record is usable: TLS is required, with any certificate' })
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

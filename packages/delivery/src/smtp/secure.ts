import { constants } from 'node:crypto'
import type { Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { isAtLeast, type TlsLevel, type TlsResult } from '@postrider/core'
import type { Endpoint } from '../common/endpoint.ts'
import { CertificateRefused, ConnectionLost } from '../common/smtp-errors.ts'
import { type Verdict, verifyCertificate } from '../tls/verify.ts'
import { verifyByDane } from '../tls/verify-dane.ts'
import { TIMEOUTS } from './timeouts.ts'

/** A TLS session to resume, with the verdict on the certificate when it began. */
export interface Ticket {
  readonly session: Buffer
  readonly verdict: Verdict
}

export interface SecureOptions {
  readonly level: TlsLevel
  /** The ticket of a session with the same host at the same level. */
  readonly ticket?: Ticket | undefined
  readonly onTicket?: (ticket: Ticket) => void
  /** Certificates of the authorities that TLSA records of the host name, as far as they are known, in PEM. */
  readonly authorities?: readonly string[] | undefined
}

export interface Secured {
  readonly socket: TLSSocket
  /** Whether the certificate is valid for the host. */
  readonly isVerified: boolean
  /** The TLSA record that the certificate was accepted by. */
  readonly by: string | undefined
  /** Why it is not valid, as TLS reports say it. */
  readonly result: TlsResult | undefined
}

/**
 * Begins TLS on a connection. Throws {@link ConnectionLost}, and AuthorityFound (verify-dane.ts). Below the level `verified`, and without
 * `verify`, any certificate is better than none (RFC 7435).
 */
export function secure(
  plain: Socket,
  { host, verify = false, dane }: Endpoint,
  { level, ticket, onTicket, authorities = [] }: SecureOptions,
): Promise<Secured> {
  const byDane = level === 'dane' && dane?.kind === 'usable' ? dane : undefined
  const sni = byDane?.names[0] ?? host
  const evaluate = (tls: TLSSocket): Verdict =>
    byDane
      ? verifyByDane(tls, byDane, { earlier: ticket?.verdict, authorities })
      : verifyCertificate(tls, host, ticket?.verdict)
  return new Promise((resolve, reject) => {
    const tls = connectTls({
      socket: plain,
      rejectUnauthorized: verify,
      // A server could have handshakes made again and again in one session.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      // Names are checked below, also in sessions that are resumed; those of relay hosts that get a password by Node, too.
      ...(verify ? {} : { checkServerIdentity: () => undefined }),
      ...(isHostName(sni) ? { servername: sni } : {}),
      ...(authorities.length > 0 ? { ca: [...authorities], allowPartialTrustChain: true } : {}),
      ...(ticket ? { session: ticket.session } : {}),
    })
    const timer = setTimeout(() => fail('no TLS within 30 s'), TIMEOUTS.tls)
    function fail(reason: string, error: Error = new ConnectionLost('tls', reason)): void {
      clearTimeout(timer)
      tls.destroy()
      plain.destroy()
      reject(error)
    }
    // With TLS 1.2 the ticket arrives before the handshake has ended.
    let early: Buffer | undefined
    let verdict: Verdict | undefined
    const keep = (session: Buffer): void => {
      if (verdict === undefined) early = session
      else onTicket?.({ session, verdict })
    }
    // The plain socket's errors surface on the TLS socket; unhandled here they would end the process.
    plain.on('error', () => {})
    tls.once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message))
    tls.once('close', () => fail('the server closed the connection during TLS'))
    tls.on('session', keep)
    tls.once('secureConnect', () => {
      let evaluated: Verdict
      try {
        evaluated = evaluate(tls)
      } catch (error) {
        return fail('', error as Error)
      }
      if (!evaluated.isValid && isAtLeast(level, 'verified')) return fail('', new CertificateRefused(host, evaluated))
      clearTimeout(timer)
      verdict = evaluated
      if (early) keep(early)
      tls.removeAllListeners('error').removeAllListeners('close')
      tls.setNoDelay(true)
      resolve({
        socket: tls,
        isVerified: evaluated.isValid,
        by: evaluated.isValid ? evaluated.by : undefined,
        result: evaluated.isValid ? undefined : evaluated.result,
      })
    })
  })
}

function isHostName(host: string): boolean {
  return !/^[\d.]+$|:/.test(host)
}

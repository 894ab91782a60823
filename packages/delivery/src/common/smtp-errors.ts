import type { Reply, Stage, TlsResult } from '@postrider/core'

/** The connection ended without a reply to the last command: closed, timed out, or not SMTP. */
export class ConnectionLost extends Error {
  readonly stage: Stage
  /** An unsolicited reply that ended the session: usually 421, or a rejection in the middle of a message. */
  readonly unsolicited: Reply | undefined
  constructor(stage: Stage, message: string, unsolicited?: Reply) {
    super(message)
    this.stage = stage
    this.unsolicited = unsolicited
  }
}

/** The server rejected the session before mail was offered. */
export class SessionRefused extends Error {
  readonly stage: Stage
  readonly reply: Reply
  constructor(stage: Stage, reply: Reply) {
    super(reply.text)
    this.stage = stage
    this.reply = reply
  }
}

export interface TlsRefusal {
  readonly stage: 'starttls' | 'tls'
  /** 4.7.4: not offered; 4.7.5: it could not be started, or the certificate is not valid (RFC 3463 3.8). */
  readonly enhanced: '4.7.4' | '4.7.5'
  /** Its type in TLS reports (RFC 8460 4.3). */
  readonly result: TlsResult
}

/** TLS is demanded, and this host does not offer it, or not with the certificate that is demanded. */
export class TlsRefused extends Error {
  readonly stage: TlsRefusal['stage']
  readonly enhanced: TlsRefusal['enhanced']
  readonly result: TlsResult

  constructor({ stage, enhanced, result }: TlsRefusal, message: string) {
    super(message)
    this.name = 'TlsRefused'
    this.stage = stage
    this.enhanced = enhanced
    this.result = result
  }
}

/** TLS could be started, but the certificate is not valid for the host, as is demanded. */
export class CertificateRefused extends ConnectionLost {
  readonly result: TlsResult

  constructor(host: string, { problem, result }: { readonly problem: string; readonly result: TlsResult }) {
    super('tls', `the server's certificate is not valid for ${host} (${problem})`)
    this.result = result
  }
}

/**
 * The host's certificate was signed by an authority that a TLSA record of the host names (DANE-TA). OpenSSL can verify that only in a
 * session that begins with the authority as the only trusted one.
 */
export class AuthorityFound extends Error {
  /** Certificates of such authorities, in PEM. */
  readonly authorities: readonly string[]

  constructor(authorities: readonly string[]) {
    super('the authority of the certificate is known now')
    this.authorities = authorities
  }
}

import type { Socket } from 'node:net'
import { createSecureContext, type SecureContextOptions, TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import { type RawServer, type Says, startRawServer, talkSmtp } from './raw-server.ts'

export interface TlsServerOptions {
  /** How well it speaks TLS; without it, STARTTLS is not offered. */
  readonly context?: SecureContextOptions
  readonly requestCert?: boolean
  /** Hears the lines of both halves: over TLS, the socket is a TLSSocket. */
  readonly says?: Says
  /** What it answers to STARTTLS instead of beginning TLS. */
  readonly refuses?: string
  /** It closes the connection, or says nothing, instead of the handshake. */
  readonly handshake?: 'cut' | 'silent'
  /** Called when a session has begun, with whether it was resumed. */
  readonly onSecure?: (isResumed: boolean) => void
}

/** A raw server with STARTTLS. */
export function startTlsServer(
  t: Test,
  at: { readonly host?: string; readonly port?: number },
  { context, requestCert = false, says = () => undefined, refuses, handshake, onSecure }: TlsServerOptions,
): Promise<RawServer> {
  // One for all connections: a session can only be resumed with the keys it began with.
  const secureContext = createSecureContext(context)
  return startRawServer(t, at, (socket) => {
    talkSmtp(
      socket,
      (line) => {
        if (line !== 'STARTTLS') return says(line, socket)
        if (refuses === undefined) setImmediate(() => begin(socket))
        return refuses ?? '220 2.0.0 go ahead\r\n'
      },
      context ? ['STARTTLS'] : [],
    )
  })

  function begin(socket: Socket): void {
    socket.removeAllListeners('data')
    if (handshake) {
      socket.once('data', () => void (handshake === 'cut' && socket.destroy()))
      return
    }
    const secured = new TLSSocket(socket, {
      isServer: true,
      secureContext,
      requestCert,
      rejectUnauthorized: requestCert,
    })
    secured.on('secure', () => onSecure?.(secured.isSessionReused()))
    secured.on('error', () => socket.destroy())
    talkSmtp(secured, (line) => (line === '' ? '' : says(line, secured)))
  }
}

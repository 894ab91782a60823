import type { Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { Endpoint } from './endpoint.ts'
import { ConnectionLost } from './errors.ts'
import { TIMEOUTS } from './timeouts.ts'

/**
 * Begins TLS on a connection. Throws {@link ConnectionLost}. Without `verify`, TLS is opportunistic: any certificate is better than none (RFC 7435).
 */
export function secure(
  plain: Socket,
  { host, verify = false }: Endpoint,
  session: Buffer | undefined,
  onSession: (session: Buffer) => void,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const tls = connectTls({
      socket: plain,
      rejectUnauthorized: verify,
      ...(isHostName(host) ? { servername: host } : {}),
      ...(session ? { session } : {}),
    })
    const timer = setTimeout(() => fail('no TLS within 30 s'), TIMEOUTS.tls)
    function fail(reason: string): void {
      clearTimeout(timer)
      tls.destroy()
      plain.destroy()
      reject(new ConnectionLost('tls', reason))
    }
    // The plain socket's errors surface on the TLS socket; unhandled here they would end the process.
    plain.on('error', () => {})
    tls.once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message))
    tls.once('close', () => fail('the server closed the connection during TLS'))
    tls.on('session', onSession)
    tls.once('secureConnect', () => {
      clearTimeout(timer)
      tls.removeAllListeners('error').removeAllListeners('close')
      tls.setNoDelay(true)
      resolve(tls)
    })
  })
}

function isHostName(host: string): boolean {
  return !/^[\d.]+$|:/.test(host)
}

import { once } from 'node:events'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { makeService } from '../helpers/service.ts'

const service = await makeService(t)
await service.openRelay()

/** A session on the port with TLS from the start. */
async function open(
  t: Test,
  options: { maxVersion?: 'TLSv1.2' | 'TLSv1.3'; session?: Buffer; port?: number } = {},
): Promise<TLSSocket> {
  const socket = connectTls({
    port: service.config.relayTlsPort,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ...options,
  })
  t.teardown(() => socket.destroy())
  socket.on('error', () => {})
  const greeted = once(socket, 'data')
  await once(socket, 'secureConnect')
  t.match(String((await greeted)[0]), /^220 /)
  return socket
}

async function say(socket: TLSSocket, line: string): Promise<string> {
  const answered = once(socket, 'data')
  socket.write(`${line}\r\n`)
  return String((await answered)[0])
}

t.test('a client cannot have the handshake of TLS 1.2 made again and again', async (t) => {
  const other = await open(t)
  const socket = await open(t, { maxVersion: 'TLSv1.2' })
  const refused = await new Promise<Error | null>((resolve) => {
    socket.once('error', resolve)
    socket.once('close', () => resolve(new Error('closed')))
    if (!socket.renegotiate({ rejectUnauthorized: false }, resolve)) resolve(new Error('not begun'))
  })
  t.ok(refused instanceof Error, 'the handshake is not made')
  t.match(await say(other, 'EHLO client.test'), /^250-/, 'another session goes on')
})

t.test('older versions than TLS 1.2 are refused', async (t) => {
  const { relayTlsPort: port } = service.config
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  })
  t.teardown(() => socket.destroy())
  const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    socket.once('error', resolve).once('secureConnect', () => resolve(undefined))
  })
  t.match(error?.code, /ERR_SSL/)
})

t.test('a ticket is good for the process that gave it, and for no other', async (t) => {
  const next = await makeService(t)
  await next.openRelay()
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const first = await open(t, { maxVersion })
    const session = first.getSession() as Buffer
    const again = await open(t, { maxVersion, session })
    t.ok(again.isSessionReused(), maxVersion)
    const other = await open(t, { maxVersion, session, port: next.config.relayTlsPort })
    t.notOk(other.isSessionReused(), maxVersion)
    t.not(
      other.getPeerCertificate().fingerprint256,
      first.getPeerCertificate().fingerprint256,
      'its certificate is shown',
    )
  }
})

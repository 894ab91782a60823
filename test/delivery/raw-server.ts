import { createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

export interface RawServer {
  readonly host: string
  readonly port: number
  readonly sockets: readonly Socket[]
  /** Everything ever received, in order of arrival, unless it was told not to keep it. */
  readonly received: () => string
}

/** A server of any manners on loopback, where the scripted host is too well-behaved. */
export async function startRawServer(
  t: Test,
  { host = '127.0.0.1', port = 0, keep = true }: { host?: string; port?: number; keep?: boolean },
  onConnection: (socket: Socket, number: number) => void,
): Promise<RawServer> {
  const sockets: Socket[] = []
  const chunks: Buffer[] = []
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {})
    if (keep) socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
    onConnection(socket, sockets.push(socket))
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    host,
    port: (server.address() as { port: number }).port,
    sockets,
    received: () => Buffer.concat(chunks).toString('latin1'),
  }
}

/** What to write, in latin1, after a command line, or "." for the end of a message. Undefined: what an obliging server says. */
export type Says = (line: string, socket: Socket) => string | undefined

/** Talks SMTP, a line at a time. Whatever `says` answers is written as it is; an empty string is silence. */
export function talkSmtp(socket: Socket, says: Says = () => undefined, capabilities: readonly string[] = []): void {
  let pending = ''
  let inData = false
  const answer = (line: string): void => {
    const text = says(line, socket) ?? obliging(line, capabilities)
    if (line === 'DATA') inData = text.startsWith('354')
    if (text && !socket.destroyed) socket.write(Buffer.from(text, 'latin1'))
  }
  socket.on('data', (chunk: Buffer) => {
    pending += chunk.toString('latin1')
    for (;;) {
      // The line end of DATA itself stands before the message, so that an empty one ends too.
      const end = inData ? `\r\n${pending}`.indexOf('\r\n.\r\n') : pending.indexOf('\r\n')
      if (end === -1) return
      const line = inData ? '.' : pending.slice(0, end)
      pending = pending.slice(end + (inData ? 3 : 2))
      inData = false
      answer(line)
    }
  })
  answer('')
}

function obliging(line: string, capabilities: readonly string[]): string {
  if (line === '') return '220 raw.test ESMTP\r\n'
  if (line === 'DATA') return '354 go ahead\r\n'
  if (line === 'QUIT') return '221 2.0.0 bye\r\n'
  if (!line.startsWith('EHLO')) return '250 2.0.0 ok\r\n'
  return ['raw.test', ...capabilities]
    .map((word, at, all) => `250${at === all.length - 1 ? ' ' : '-'}${word}\r\n`)
    .join('')
}

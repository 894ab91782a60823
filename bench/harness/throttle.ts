import { createServer, type Socket } from 'node:net'

export interface Throttle {
  /** Conversations ended by a refusal. */
  refused(): number
  /** Connections now. */
  connections(): number
  stop(): Promise<void>
}

/**
 * An SMTP server that takes no mail: after `least` to `most` milliseconds it ends every second conversation with 421 instead of a greeting, and answers
 * each recipient of the others with 450, as providers do that are offered too much.
 */
export async function startThrottle(
  { host, port }: { readonly host: string; readonly port: number },
  { least, most }: { readonly least: number; readonly most: number },
): Promise<Throttle> {
  let [refused, conversations] = [0, 0]
  const sockets = new Set<Socket>()
  const later = (act: () => void): void => void setTimeout(act, least + Math.random() * (most - least))
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    if (conversations++ % 2 === 0) {
      later(() => {
        refused++
        socket.end('421 4.7.0 Too many connections from your address, try again later\r\n')
      })
      return
    }
    let input = ''
    socket.write('220 busy.example ESMTP\r\n')
    socket.on('data', (chunk: Buffer) => {
      input += chunk.toString('latin1')
      // A client that is not offered PIPELINING sends one command at a time.
      const command = /^(.*)\r\n$/.exec(input)?.[1]?.toUpperCase()
      if (command === undefined) return
      input = ''
      if (command.startsWith('EHLO')) socket.write('250 busy.example\r\n')
      else if (command.startsWith('RCPT')) {
        later(() => {
          refused++
          socket.write('450 4.7.1 You send too much mail, try again later\r\n')
        })
      } else if (command === 'QUIT') socket.end('221 2.0.0 Bye\r\n')
      else socket.write(command === 'DATA' ? '503 5.5.1 No recipients\r\n' : '250 2.0.0 Ok\r\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  return {
    refused: () => refused,
    connections: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

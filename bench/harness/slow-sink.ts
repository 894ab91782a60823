import { createServer, type Socket } from 'node:net'
import type { SmtpSink } from './sink.ts'

const END_OF_DATA = Buffer.from('\r\n.\r\n')

/**
 * An SMTP server that answers all mail with `reply`, counts it and keeps nothing. Before it answers DATA it waits, each time for another number of
 * milliseconds between `least` and `most`: smtp-sink always waits for the same, so that conversations that began together end together for ever.
 */
export async function startSlowSink(
  { host, port }: { readonly host: string; readonly port: number },
  { least, most, reply = '250 2.0.0 Ok' }: { readonly least: number; readonly most: number; readonly reply?: string },
): Promise<SmtpSink> {
  let count = 0
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    let input = Buffer.alloc(0)
    let state: 'commands' | 'waiting' | 'data' = 'commands'
    socket.write('220 slow.example ESMTP\r\n')
    socket.on('data', (chunk) => {
      input = Buffer.concat([input, chunk])
      read()
    })

    function read(): void {
      while (state !== 'waiting') {
        const end = state === 'data' ? input.indexOf(END_OF_DATA) : input.indexOf('\r\n')
        if (end === -1) return
        const command = state === 'data' ? '' : input.toString('latin1', 0, end).toUpperCase()
        input = input.subarray(end + (state === 'data' ? END_OF_DATA.length : 2))
        if (state === 'data') {
          count++
          state = 'commands'
          socket.write(`${reply}\r\n`)
        } else if (command === 'DATA') {
          state = 'waiting'
          setTimeout(startData, least + Math.random() * (most - least))
        } else if (command.startsWith('EHLO')) socket.write('250-slow.example\r\n250-PIPELINING\r\n250 8BITMIME\r\n')
        else if (command === 'QUIT') socket.end('221 2.0.0 Bye\r\n')
        else socket.write('250 2.1.0 Ok\r\n')
      }
    }

    function startData(): void {
      state = 'data'
      socket.write('354 End data with <CR><LF>.<CR><LF>\r\n')
      read()
    }
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  return {
    port,
    count: () => count,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

import { createServer, type Socket } from 'node:net'

/** What arrived at a host that takes everything. */
export interface Arrivals {
  /** Resolves once a message to the recipient has ended; false when none comes within so many milliseconds. */
  of(recipient: string, within: number): Promise<boolean>
}

const END = Buffer.from('\r\n.\r\n')

/** An SMTP host that takes all mail and keeps none, so that reading 30 MB costs it next to nothing. */
export async function arrivals(host: string, port: number): Promise<Arrivals> {
  const waiting = new Map<string, (there: boolean) => void>()
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {})
    talk(socket, (recipient) => waiting.get(recipient)?.(true))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  // It goes with whoever asks it.
  server.unref()
  return {
    of: (recipient, within) =>
      new Promise((resolve) => {
        const done = (there: boolean): void => {
          clearTimeout(timer)
          waiting.delete(recipient)
          resolve(there)
        }
        const timer = setTimeout(() => done(false), within)
        waiting.set(recipient, done)
      }),
  }
}

function talk(socket: Socket, arrived: (recipient: string) => void): void {
  let pending = Buffer.alloc(0)
  let tail: Buffer | undefined
  let recipients: string[] = []
  const command = (line: string): void => {
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'RCPT') recipients.push(/<([^>]*)>/.exec(line)?.[1] ?? '')
    if (verb === 'DATA') tail = Buffer.from('\r\n')
    if (verb === 'EHLO') socket.write('250-open.test\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250 SIZE\r\n')
    else socket.write(verb === 'DATA' ? '354 Go on\r\n' : verb === 'QUIT' ? '221 Bye\r\n' : '250 2.0.0 Ok\r\n')
  }
  const data = (chunk: Buffer): Buffer => {
    const seam = Buffer.concat([tail as Buffer, chunk.subarray(0, END.length)])
    const early = seam.indexOf(END)
    const end = early === -1 ? chunk.indexOf(END) : early - (tail as Buffer).length
    if (end === -1) {
      tail = Buffer.from(Buffer.concat([tail as Buffer, chunk.subarray(-4)]).subarray(-4))
      return Buffer.alloc(0)
    }
    tail = undefined
    for (const recipient of recipients.splice(0)) arrived(recipient)
    recipients = []
    socket.write('250 2.0.0 Ok\r\n')
    return chunk.subarray(end + END.length)
  }
  socket.write('220 open.test ESMTP\r\n')
  socket.on('data', (chunk: Buffer) => {
    let rest = chunk
    while (rest.length > 0) {
      if (tail) {
        rest = data(rest)
        continue
      }
      pending = Buffer.concat([pending, rest])
      const end = pending.indexOf('\r\n')
      if (end === -1) return
      const line = pending.toString('latin1', 0, end)
      rest = pending.subarray(end + 2)
      pending = Buffer.alloc(0)
      command(line)
    }
  })
}

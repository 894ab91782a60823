import { connect } from 'node:net'
import { timerDelay } from '@postrider/core'

/** Characters of a greeting that are read. */
const MAX_GREETING = 512

/** Connects to an SMTP server and returns the first line that it sends; undefined if there is none in time. Never rejects. */
export function smtpGreeting(host: string, port: number, timeoutMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    let received = ''
    const done = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(received === '' ? undefined : received.split('\r\n', 1)[0]?.slice(0, MAX_GREETING))
    }
    const timer = setTimeout(done, timerDelay(timeoutMs))
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1')
      if (!received.includes('\n') && received.length < MAX_GREETING) return
      socket.write('QUIT\r\n')
      done()
    })
    socket.once('error', done)
    socket.once('close', done)
  })
}

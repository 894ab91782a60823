import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { CommandError } from '../command.ts'

export interface SmtpSubmission {
  readonly host: string
  readonly port: number
  /** PEM certificates to trust; if undefined, those of Node. Not used on loopback, where the certificate is not verified. */
  readonly ca: string | undefined
  readonly user: string
  readonly password: string
  readonly from: string
  readonly to: string
  /** With CRLF line endings. */
  readonly message: string
}

const TIMEOUT_MS = 30_000
/** Characters of a reply; a server that sends more is not a relay of this service. */
const MAX_REPLY = 64 * 1024

/**
 * Submits one message with STARTTLS and AUTH PLAIN, and returns the reply to end of data. Throws {@link CommandError} with the step and the
 * server's reply, or with the reason of a lost connection.
 */
export async function submitBySmtp(submission: SmtpSubmission): Promise<string> {
  const { host, port, ca, user, password, from, to, message } = submission
  const plain = new Session(connect({ host, port }), `${host}:${port}`)
  let session = plain
  try {
    await plain.expect('the connection', 220)
    await plain.command('EHLO localhost', 250)
    await plain.command('STARTTLS', 220)
    const verified = isLoopback(host) ? { rejectUnauthorized: false } : { ...(ca === undefined ? {} : { ca }) }
    const name = isIP(host) ? {} : { servername: host }
    session = new Session(connectTls({ socket: plain.release(), ...verified, ...name }), `${host}:${port}`)
    await session.command('EHLO localhost', 250)
    const credentials = Buffer.from(`\0${user}\0${password}`).toString('base64')
    await session.command(`AUTH PLAIN ${credentials}`, 235, 'AUTH')
    await session.command(`MAIL FROM:<${from}>`, 250)
    await session.command(`RCPT TO:<${to}>`, 250)
    await session.command('DATA', 354)
    const reply = await session.command(`${message.replace(/^\./gm, '..')}\r\n.`, 250, 'the message')
    session.socket.end('QUIT\r\n')
    return reply
  } catch (error) {
    session.socket.destroy()
    throw error
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

/** One side of an SMTP conversation, before or after STARTTLS. */
class Session {
  readonly socket: Socket
  readonly #server: string
  #received = ''
  #failure: Error | undefined
  #wake: () => void = () => {}

  constructor(socket: Socket, server: string) {
    this.socket = socket
    this.#server = server
    const fail = (error: Error) => {
      this.#failure ??= error
      this.#wake()
    }
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`no reply within ${TIMEOUT_MS / 1000} s`)))
    socket.on('error', fail)
    socket.on('close', () => fail(new Error('the connection was closed')))
    socket.on('data', (bytes: Buffer) => {
      this.#received += bytes.toString('utf8')
      this.#wake()
    })
  }

  /** Stops reading, so that TLS can take over the socket. */
  release(): Socket {
    this.socket.removeAllListeners('data')
    this.socket.setTimeout(0)
    return this.socket
  }

  async command(line: string, expected: number, step = line): Promise<string> {
    this.socket.write(`${line}\r\n`)
    return this.expect(step, expected)
  }

  async expect(step: string, expected: number): Promise<string> {
    const reply = await this.#reply()
    if (Number(reply.slice(0, 3)) !== expected) {
      throw new CommandError(`the relay at ${this.#server} rejected ${step}: ${reply}`)
    }
    return reply
  }

  async #reply(): Promise<string> {
    for (;;) {
      const [whole] = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\r?\n/.exec(this.#received) ?? []
      if (whole !== undefined) {
        this.#received = this.#received.slice(whole.length)
        return whole.trim().replace(/\r?\n/g, ' ')
      }
      const problem = this.#received.length > MAX_REPLY ? 'the reply is not SMTP' : this.#failure?.message
      if (problem !== undefined) throw new CommandError(`could not use the relay at ${this.#server}: ${problem}`)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

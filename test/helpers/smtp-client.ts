import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Test } from 'tap'
import { drained } from './drained.ts'
import { isInTime } from './pace.ts'

/** What `reply` answers when the server has closed the connection. */
export const CLOSED = '(closed)'
/** Milliseconds until a reply, or as much longer as the machine is busy, and between two looks at that. */
const PATIENCE_MS = 20_000
const LOOK_EVERY_MS = 1000
/** Long enough for the kernel to hand the server each segment by itself. */
const BETWEEN_SEGMENTS_MS = 5

/** A raw SMTP client: says exactly what it is told, in the pieces it is told, and shows every reply. */
export class SmtpClient {
  #socket: Socket
  /** Below TLS. */
  readonly #tcp: Socket
  #tls = false
  #text = ''
  #ended = false
  #arrived: () => void = () => {}

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#tcp = socket
  }

  /** Connects, over TLS from the first byte if so told. The greeting is the first reply. */
  static async connect(
    t: Test,
    { port, tls = false, from }: { port: number; tls?: boolean; from?: string },
  ): Promise<SmtpClient> {
    const client = new SmtpClient(
      connect({ port, host: '127.0.0.1', noDelay: true, ...(from && { localAddress: from }) }),
    )
    t.teardown(() => client.destroy())
    await once(client.#socket, 'connect')
    if (tls) await client.handshake()
    else client.#listen()
    return client
  }

  /** The next reply, lines joined by \n; CLOSED when there is none and never will be. */
  async reply(): Promise<string> {
    const began = performance.now()
    for (;;) {
      const whole = /^(?:\d{3}-[^\r\n]*\r\n)*\d{3}(?: [^\r\n]*)?\r\n/.exec(this.#text)
      if (whole) {
        this.#text = this.#text.slice(whole[0].length)
        return whole[0].trimEnd().replaceAll('\r\n', '\n')
      }
      if (this.#ended) return this.#text === '' ? CLOSED : this.#text
      if (!isInTime(began, PATIENCE_MS))
        throw new Error(`no reply within ${Math.round(performance.now() - began)} ms; so far: ${this.#text}`)
      await this.#more(LOOK_EVERY_MS)
    }
  }

  /** The next so many replies. */
  async replies(count: number): Promise<string[]> {
    const replies: string[] = []
    while (replies.length < count) replies.push(await this.reply())
    return replies
  }

  /** Each segment is a write of its own: a TLS record, or without TLS a packet. */
  async send(...segments: (string | Buffer)[]): Promise<void> {
    for (const [at, segment] of segments.entries()) {
      if (at > 0 && !this.#tls) await new Promise((resolve) => setTimeout(resolve, BETWEEN_SEGMENTS_MS))
      const written = this.#socket.write(segment)
      if (!written && !this.#ended) await drained(this.#socket)
    }
  }

  async command(line: string | Buffer): Promise<string> {
    await this.send(typeof line === 'string' ? `${line}\r\n` : Buffer.concat([line, Buffer.from('\r\n')]))
    return this.reply()
  }

  async startTls(): Promise<void> {
    await expect(this.command('STARTTLS'), '220')
    await this.handshake()
  }

  /** The TLS handshake alone. */
  async handshake(): Promise<void> {
    this.#socket.removeAllListeners()
    const secured = connectTls({ socket: this.#socket, rejectUnauthorized: false })
    this.#socket = secured
    this.#tls = true
    this.#text = ''
    await once(secured, 'secureConnect')
    this.#listen()
  }

  /** EHLO and AUTH PLAIN. */
  async logIn(apiKey: string, user = 'apikey'): Promise<void> {
    await expect(this.command('EHLO client.test'), '250')
    await expect(this.command(`AUTH PLAIN ${plainToken(user, apiKey)}`), '235')
  }

  /** MAIL, RCPT and DATA, each of which must be accepted. */
  async begin(from: string, ...to: string[]): Promise<void> {
    await expect(this.command(`MAIL FROM:<${from}>`), '250')
    for (const recipient of to) await expect(this.command(`RCPT TO:<${recipient}>`), '250')
    await expect(this.command('DATA'), '354')
  }

  /** The lines of a message with dots stuffed, the final dot, and the reply to it. */
  async finish(message: string | Buffer): Promise<string> {
    await this.send(stuffed(message))
    return this.reply()
  }

  /** One whole message; the reply to its final dot. */
  async submit(from: string, to: string | readonly string[], message: string | Buffer): Promise<string> {
    await this.begin(from, ...(typeof to === 'string' ? [to] : to))
    return this.finish(message)
  }

  /** The connection is gone without a word. */
  destroy(): void {
    this.#socket.destroy()
  }

  /** The connection is reset. */
  reset(): void {
    this.#tcp.resetAndDestroy()
  }

  #listen(): void {
    const end = (): void => {
      this.#ended = true
      this.#arrived()
    }
    this.#socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString()
      this.#arrived()
    })
    this.#socket.on('error', end)
    this.#socket.on('end', end)
    this.#socket.on('close', end)
  }

  #more(within: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, within)
      this.#arrived = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** RFC 4616. */
export function plainToken(user: string, apiKey: string): string {
  return Buffer.from(`\0${user}\0${apiKey}`).toString('base64')
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** As it goes over the wire (RFC 5321 4.5.2); a last line without end gets one. */
export function stuffed(message: string | Buffer): Buffer {
  const text = typeof message === 'string' ? Buffer.from(message).toString('latin1') : message.toString('latin1')
  const ended = text === '' || text.endsWith('\r\n') ? text : `${text}\r\n`
  return Buffer.from(`${ended.replace(/^\./, '..').replaceAll('\r\n.', '\r\n..')}.\r\n`, 'latin1')
}

async function expect(reply: Promise<string>, code: string): Promise<void> {
  const text = await reply
  if (!text.startsWith(code)) throw new Error(`expected ${code}, got: ${text}`)
}

function once(socket: Socket, event: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => {
      socket.off('error', reject)
      resolve()
    })
    socket.once('error', reject)
  })
}

import { createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import type { Test } from 'tap'

/** What a script answers at a step: a reply line, several lines, or an end of the connection. */
export type SinkAnswer = string | readonly string[] | typeof HANG_UP | typeof RESET | typeof SILENCE
/** The connection is closed without a word. */
export const HANG_UP = Symbol('hang up')
/** The connection is reset. */
export const RESET = Symbol('reset')
/** Nothing is ever said. */
export const SILENCE = Symbol('silence')

export interface SinkMessage {
  readonly from: string
  readonly to: readonly string[]
  /** As it was on the wire, dots unstuffed, without the final dot. */
  readonly data: Buffer
  readonly tls: boolean
  readonly session: number
  /** The client's address and the name it gave. */
  readonly client: string
  readonly helo: string
  readonly at: number
}

export interface SinkStep {
  readonly command: string
  readonly session: number
  readonly tls: boolean
  /** How often this very command line came before, in any session. */
  readonly before: number
  readonly message: Omit<SinkMessage, 'data' | 'at'> & { readonly data?: Buffer }
}

type Script = (step: SinkStep) => SinkAnswer | undefined | Promise<SinkAnswer | undefined>

export interface SinkOptions {
  readonly host?: string
  readonly port?: number
  /** EHLO keywords; STARTTLS comes by itself with `tls`. Default PIPELINING, 8BITMIME, SMTPUTF8, SIZE. */
  readonly extensions?: readonly string[]
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Every TLS handshake fails. */
  readonly brokenTls?: boolean
  /** undefined: what an obliging server says. */
  readonly greeting?: Script
  readonly ehlo?: Script
  readonly mail?: Script
  readonly rcpt?: Script
  readonly data?: Script
  /** Asked when the message has arrived; the message is kept unless the script says otherwise by `keep`. */
  readonly dot?: Script
  readonly rset?: Script
  /** Is a message kept that the script answered like this? Default: kept unless refused. */
  readonly keep?: (answer: SinkAnswer, step: SinkStep) => boolean
}

export interface Sink {
  readonly port: number
  readonly host: string
  readonly messages: SinkMessage[]
  /** Every command line, in order of arrival. */
  readonly commands: string[]
  /** Sessions opened so far. */
  readonly sessions: number
  readonly open: number
  close(): Promise<void>
}

/** A scripted SMTP host on loopback: the remote server of a test. */
export async function startSink(t: Test, options: SinkOptions = {}): Promise<Sink> {
  const messages: SinkMessage[] = []
  const commands: string[] = []
  const seen = new Map<string, number>()
  const sockets = new Set<Socket>()
  let sessions = 0

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    new Session(socket, ++sessions).start()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve)
  })
  const { port, address } = server.address() as { port: number; address: string }
  const close = (): Promise<void> => closeServer(server, sockets)
  t.teardown(close)

  class Session {
    #socket: Socket
    readonly #number: number
    #tls = false
    /** What has arrived and is not read yet. */
    #arrived: Buffer[] = []
    #search = beginSearch()
    #busy = false
    #from = ''
    #to: string[] = []
    #inData = false
    #helo = ''
    readonly #client: string

    constructor(socket: Socket, number: number) {
      this.#socket = socket
      this.#number = number
      this.#client = socket.remoteAddress ?? ''
    }

    start(): void {
      this.#listen()
      void this.#say('', options.greeting, '220 sink.test ESMTP')
    }

    #listen(): void {
      this.#socket.on('error', () => {})
      this.#socket.on('data', (chunk: Buffer) => {
        this.#arrived.push(chunk)
        void this.#work()
      })
    }

    async #work(): Promise<void> {
      if (this.#busy) return
      this.#busy = true
      while (!this.#socket.destroyed && (this.#inData ? await this.#readData() : await this.#readCommand()));
      this.#busy = false
    }

    async #readCommand(): Promise<boolean> {
      const buffer = Buffer.concat(this.#arrived)
      const end = buffer.indexOf('\r\n')
      if (end === -1) return false
      const line = buffer.toString('utf8', 0, end)
      this.#arrived = [buffer.subarray(end + 2)]
      commands.push(line)
      await this.#command(line)
      return true
    }

    async #readData(): Promise<boolean> {
      if (!this.#search(this.#arrived)) return false
      const whole = Buffer.concat([CRLF, ...this.#arrived])
      const end = whole.indexOf(END_OF_DATA)
      this.#inData = false
      this.#arrived = [Buffer.from(whole.subarray(end + END_OF_DATA.length))]
      const data = unstuffed(whole.subarray(2, end + 2))
      const step = this.#step('.', data)
      const answer = (await options.dot?.(step)) ?? '250 2.0.0 taken'
      const kept = options.keep?.(answer, step) ?? (typeof answer === 'string' && answer.startsWith('2'))
      if (kept) messages.push({ ...step.message, data, at: Date.now() })
      this.#from = ''
      this.#to = []
      this.#answer(answer)
      return true
    }

    async #command(line: string): Promise<void> {
      const verb = line.split(/[ :]/, 1)[0]?.toUpperCase()
      switch (verb) {
        case 'EHLO':
        case 'HELO':
          this.#helo = line.slice(5)
          await this.#say(line, options.ehlo, verb === 'EHLO' ? this.#capabilities() : '250 sink.test')
          return
        case 'STARTTLS':
          return this.#startTls()
        case 'MAIL': {
          this.#to = []
          const reply = await this.#say(line, options.mail, '250 2.1.0 ok')
          if (accepted(reply)) this.#from = /<(.*?)>/.exec(line)?.[1] ?? ''
          return
        }
        case 'RCPT': {
          const reply = await this.#say(line, options.rcpt, '250 2.1.5 ok')
          if (accepted(reply)) this.#to.push(/<(.*)>/.exec(line)?.[1] ?? '')
          return
        }
        case 'DATA': {
          if (this.#to.length === 0) return void this.#answer('503 5.5.1 no recipients')
          const reply = await this.#say(line, options.data, '354 go ahead')
          this.#inData = typeof reply === 'string' && reply.startsWith('354')
          this.#search = beginSearch()
          return
        }
        case 'RSET':
          this.#from = ''
          this.#to = []
          return void (await this.#say(line, options.rset, '250 2.0.0 reset'))
        case 'QUIT':
          this.#answer('221 2.0.0 bye')
          return void this.#socket.end()
        default:
          this.#answer('250 2.0.0 ok')
      }
    }

    #capabilities(): string[] {
      const offered = [...(options.extensions ?? ['PIPELINING', '8BITMIME', 'SMTPUTF8', 'SIZE 52428800'])]
      if (options.tls && !this.#tls) offered.push('STARTTLS')
      return ['sink.test', ...offered].map((word, at, all) => `250${at === all.length - 1 ? ' ' : '-'}${word}`)
    }

    #startTls(): void {
      this.#answer('220 2.0.0 go ahead')
      this.#socket.removeAllListeners('data')
      if (options.brokenTls) {
        this.#socket.once('data', () => this.#socket.end('this is not TLS'))
        return
      }
      const secured = new TLSSocket(this.#socket, { isServer: true, secureContext: createSecureContext(options.tls) })
      this.#socket = secured
      this.#tls = true
      this.#arrived = []
      this.#listen()
    }

    async #say(line: string, script: Script | undefined, byDefault: SinkAnswer): Promise<SinkAnswer> {
      const answer = (await script?.(this.#step(line))) ?? byDefault
      this.#answer(answer)
      return answer
    }

    #step(command: string, data?: Buffer): SinkStep {
      const before = seen.get(command) ?? 0
      seen.set(command, before + 1)
      const message = {
        from: this.#from,
        to: [...this.#to],
        tls: this.#tls,
        session: this.#number,
        client: this.#client,
        helo: this.#helo,
        ...(data ? { data } : {}),
      }
      return { command, session: this.#number, tls: this.#tls, before, message }
    }

    #answer(answer: SinkAnswer): void {
      if (answer === HANG_UP) this.#socket.destroy()
      else if (answer === RESET) this.#socket.resetAndDestroy()
      else if (answer !== SILENCE) {
        this.#socket.write(`${typeof answer === 'string' ? answer : (answer as readonly string[]).join('\r\n')}\r\n`)
        if (typeof answer === 'string' && answer.startsWith('421')) this.#socket.end()
      }
    }
  }

  return {
    port,
    host: address,
    messages,
    commands,
    get sessions() {
      return sessions
    },
    get open() {
      return sockets.size
    },
    close,
  }
}

const CRLF = Buffer.from('\r\n')
const END_OF_DATA = Buffer.from('\r\n.\r\n')

/** Tells whether the end of the data is in what has arrived, and looks at each part once: a message of 20 MB comes in hundreds. */
function beginSearch(): (arrived: readonly Buffer[]) => boolean {
  let before = CRLF
  let looked = 0
  return (arrived) => {
    for (; looked < arrived.length; looked++) {
      const part = Buffer.concat([before, arrived[looked] as Buffer])
      if (part.includes(END_OF_DATA)) return true
      before = part.subarray(1 - END_OF_DATA.length)
    }
    return false
  }
}

function accepted(answer: SinkAnswer): boolean {
  return typeof answer === 'string' && answer.startsWith('2')
}

function unstuffed(data: Buffer): Buffer {
  return Buffer.from(
    data
      .toString('latin1')
      .replace(/^\./, '')
      .replace(/\r\n\./g, '\r\n'),
    'latin1',
  )
}

async function closeServer(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy()
  if (server.listening) await new Promise((resolve) => server.close(resolve))
}

import { connect as connectTcp, isIP, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Reply, Stage, Step, TlsLevel, TlsResult } from '@postrider/core'
import { timerDelay } from '@postrider/core'
import { type Endpoint, hostLabel } from '../common/endpoint.ts'
import { ConnectionLost } from '../common/smtp-errors.ts'
import { cutText, ProtocolError, ReplyReader, type SmtpReply } from './reply-reader.ts'
import { type SecureOptions, secure } from './secure.ts'
import { TIMEOUTS } from './timeouts.ts'

/** Maximum bytes of a reply kept with its step; the decisive reply is kept whole with the attempt. */
const STEP_TEXT = 256

interface Waiting {
  readonly stage: Stage
  readonly since: number
  /** Whether another reply was awaited when the command was sent. */
  readonly together: boolean
  readonly resolve: (reply: SmtpReply) => void
  readonly reject: (error: Error) => void
  /** Milliseconds, starting when all earlier replies have arrived. */
  readonly timeout: number
  timer: NodeJS.Timeout | undefined
}

/** An SMTP client session: greeted, capabilities known, ready for transactions. */
export class SmtpConnection {
  readonly endpoint: Endpoint
  /** Upper-case keyword → its parameters. */
  capabilities: ReadonlyMap<string, string> = new Map()
  /** For instance "TLSv1.3"; undefined for plain text. */
  tls: string | undefined
  /** Whether the server's certificate is valid for its host. */
  isVerified = false
  /** Why the server's certificate is not valid for its host, as TLS reports say it. */
  certificateResult: TlsResult | undefined
  /** The TLSA record that the server's certificate was accepted by. */
  acceptedBy: string | undefined
  /** The TLS level that was demanded when the session began: it serves no mail that demands more. */
  readonly level: TlsLevel
  /** Number of transactions in this session. */
  transactions = 0
  /** The steps since the last {@link takeSteps}. */
  #steps: Step[] = []
  #socket: Socket
  #reader = new ReplyReader()
  #waiting: Waiting[] = []
  #lost: ConnectionLost | undefined
  readonly #address: string
  readonly openedAt = performance.now()
  readonly #closed = Promise.withResolvers<void>()

  constructor(endpoint: Endpoint, socket: Socket, level: TlsLevel) {
    this.endpoint = endpoint
    this.level = level
    this.#socket = socket
    this.#address = socket.remoteAddress ?? endpoint.address
    this.#listen()
  }

  /** The remote address of the socket. */
  get address(): string {
    return this.#address
  }

  /** Resolves when the connection is closed. */
  get closed(): Promise<void> {
    return this.#closed.promise
  }

  get usable(): boolean {
    return this.#lost === undefined && !this.#socket.destroyed
  }

  get pipelining(): boolean {
    return this.capabilities.has('PIPELINING')
  }

  #listen(): void {
    this.#socket.on('data', (chunk: Buffer) => this.#onData(chunk))
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#lose(error.code ?? error.message))
    this.#socket.on('close', () => {
      this.#lose('the server closed the connection')
      this.#closed.resolve()
    })
  }

  #onData(chunk: Buffer): void {
    try {
      for (const reply of this.#reader.push(chunk)) {
        const waiting = this.#waiting.shift()
        // An unsolicited reply (usually 421 before the server closes) ends the session.
        if (!waiting) {
          this.#lose(`unsolicited reply ${reply.code} ${reply.text}`, reply)
          return
        }
        clearTimeout(waiting.timer)
        this.#steps.push(stepOf(waiting, reply))
        waiting.resolve(reply)
        this.#awaitNext()
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.#lose(error.message)
    }
  }

  #lose(reason: string, unsolicited?: Reply): void {
    if (this.#lost) return
    this.#lost = new ConnectionLost(this.#waiting[0]?.stage ?? 'connect', reason, unsolicited)
    this.#socket.destroy()
    for (const waiting of this.#waiting.splice(0)) {
      clearTimeout(waiting.timer)
      this.#steps.push({ step: waiting.stage, ms: elapsed(waiting.since), text: reason })
      waiting.reject(new ConnectionLost(waiting.stage, reason))
    }
  }

  /** Throws {@link ConnectionLost} if the connection was lost. */
  requireOpen(stage: Stage): void {
    if (this.#lost) throw new ConnectionLost(stage, this.#lost.message, this.#lost.unsolicited)
  }

  /** Waits for the next reply. With pipelining, each reply has its own timeout. Throws {@link ConnectionLost}. */
  async reply(stage: Stage, timeout: number): Promise<SmtpReply> {
    this.requireOpen(stage)
    return new Promise((resolve, reject) => {
      const together = this.#waiting.length > 0
      this.#waiting.push({ stage, since: performance.now(), together, timeout, resolve, reject, timer: undefined })
      if (this.#waiting.length === 1) this.#awaitNext()
    })
  }

  #awaitNext(): void {
    const [waiting] = this.#waiting
    if (!waiting) return
    const { timeout } = waiting
    waiting.timer = setTimeout(() => this.#lose(`no reply within ${Math.round(timeout / 1000)} s`), timerDelay(timeout))
  }

  /** Writes data; several commands at once if the server supports PIPELINING (RFC 2920). */
  write(data: string | Buffer): void {
    if (this.usable) this.#socket.write(data)
  }

  cork(): void {
    this.#socket.cork()
  }

  uncork(): void {
    this.#socket.uncork()
  }

  /** Resolves once the kernel has all written data. Throws {@link ConnectionLost} if the server stops reading. */
  async flushed(stage: Stage): Promise<void> {
    while (this.#socket.writableLength > 0 && this.usable) {
      const before = this.#socket.writableLength
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, TIMEOUTS.block)
        const socket = this.#socket
        function done(): void {
          clearTimeout(timer)
          socket.off('drain', done)
          socket.off('close', done)
          resolve()
        }
        if (socket.writableNeedDrain) socket.once('drain', done)
        else socket.write('', done)
        socket.once('close', done)
      })
      if (this.usable && this.#socket.writableLength >= before) this.#lose('the server stopped reading')
    }
    this.requireOpen(stage)
  }

  /** Sends one command and returns its reply. */
  command(line: string, stage: Stage, timeout: number): Promise<SmtpReply> {
    const reply = this.reply(stage, timeout)
    this.write(`${line}\r\n`)
    return reply
  }

  /** Upgrades to TLS. Everything received in plain text before is discarded with the session (RFC 3207 4.2). */
  async startTls(options: Omit<SecureOptions, 'level'>): Promise<void> {
    const since = performance.now()
    try {
      this.requireOpen('tls')
      if (!this.#reader.isEmpty) throw new ConnectionLost('tls', 'the server sent plain text after STARTTLS')
      const plain = this.#socket
      plain.removeAllListeners('data').removeAllListeners('error').removeAllListeners('close')
      const { socket, isVerified, by, result } = await secure(plain, this.endpoint, { ...options, level: this.level })
      this.#socket = socket
      this.isVerified = isVerified
      this.acceptedBy = by
      this.certificateResult = result
    } catch (error) {
      this.#steps.push({ step: 'tls', ms: elapsed(since), text: (error as Error).message })
      this.#socket.destroy()
      this.#closed.resolve()
      throw error
    }
    this.tls = (this.#socket as TLSSocket).getProtocol() ?? 'TLS'
    this.#steps.push({ step: 'tls', ms: elapsed(since), text: this.tls })
    this.#reader = new ReplyReader()
    this.#listen()
  }

  note(step: Step): void {
    this.#steps.push(step)
  }

  /** Returns and clears the steps since the last call; one attempt stores them. */
  takeSteps(): Step[] {
    return this.#steps.splice(0)
  }

  /** Sends QUIT and closes after a short wait. */
  close(): void {
    if (!this.usable) return
    this.#waiting.length = 0
    this.#socket.removeAllListeners('data')
    this.#socket.on('data', () => {})
    this.#socket.end('QUIT\r\n')
    const timer = setTimeout(() => this.#socket.destroy(), TIMEOUTS.quit)
    timer.unref()
    this.#socket.once('close', () => clearTimeout(timer))
    this.#lost = new ConnectionLost('connect', 'closed')
  }

  destroy(reason = 'connection closed by the client'): void {
    this.#lose(reason)
  }
}

/** Opens the TCP connection, with implicit TLS if configured. Throws {@link ConnectionLost}. */
export async function openSocket(endpoint: Endpoint, level: TlsLevel): Promise<SmtpConnection> {
  const since = performance.now()
  const plain = await new Promise<Socket>((resolve, reject) => {
    const { address, port, localAddress } = endpoint
    const from = localAddress === undefined ? {} : { localAddress, family: isIP(localAddress) }
    const attempt = connectTcp({ host: address, port, noDelay: true, ...from })
    const timer = setTimeout(() => fail(`no connection within ${TIMEOUTS.connect / 1000} s`), TIMEOUTS.connect)
    function fail(reason: string): void {
      clearTimeout(timer)
      attempt.destroy()
      reject(new ConnectionLost('connect', reason))
    }
    attempt.once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message))
    attempt.once('connect', () => {
      clearTimeout(timer)
      attempt.removeAllListeners('error')
      resolve(attempt)
    })
  })
  const secured = endpoint.implicitTls ? await secure(plain, endpoint, { level }) : undefined
  const connection = new SmtpConnection(endpoint, secured?.socket ?? plain, level)
  if (secured) {
    connection.tls = secured.socket.getProtocol() ?? 'TLS'
    connection.isVerified = secured.isVerified
  }
  connection.note({ step: 'connect', ms: elapsed(since), text: hostLabel(endpoint) })
  return connection
}

function stepOf({ stage, since, together }: Waiting, { code, enhanced, text }: SmtpReply): Step {
  const step = {
    step: stage,
    ms: elapsed(since),
    code,
    ...(enhanced ? { enhanced } : {}),
    text: cutText(text, STEP_TEXT),
  }
  return together ? { ...step, together } : step
}

export function elapsed(since: number): number {
  return Math.round((performance.now() - since) * 10) / 10
}

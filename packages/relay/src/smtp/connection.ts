import type { Socket } from 'node:net'
import { count } from '@postrider/core'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'
import type { ClientCount } from './client-count.ts'
import { CommandStream } from './command-stream.ts'
import { type ParsedPath, parsePath } from './path.ts'
import { senderDomains } from './sender-domains.ts'
import { sendsByNetwork } from './sends-by-network.ts'
import { inShareOfTurn } from './share-of-turn.ts'

/** Commands for which a client that need not authenticate may. */
const ASKS_FOR_AUTH = /^(?:EHLO|AUTH)\b/i
const CODE_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const
/** A text that begins with its own enhanced status code (RFC 2034). */
const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3} /

/**
 * One SMTP session. It overrides smtp-server where that waits 100 ms before the greeting, which limits clients that open a
 * connection per message to 460 messages per second, offers AUTH without TLS, and has its own address rules.
 */
export class RelayConnection extends SMTPConnection {
  declare _server: RelayServer
  /** performance.now() since which the client has to send a complete command or message data. */
  owesSince = performance.now()
  readonly openedAt = performance.now()
  #plainEhlo = false
  /** Whether AUTH is not demanded for the present command. */
  #needsNoAuth = false
  #loginFailed = false

  override init(): void {
    this._setListeners(() => {
      if (this._server.isStopping) {
        this.sayGoodbye()
        return
      }
      const maxClients = this._server.options.maxClients
      if (maxClients && this._server.connections.size > maxClients) {
        this.send(421, '4.3.2 Too many connections, try again later')
        return
      }
      this.connectionReady()
    })
  }

  /**
   * A client that has a password but no TLS is told which of the two is missing (RFC 3207 4). Exim and Sendmail go on without AUTH when their
   * key is invalid, and would bounce all of their mail by 530; so it waits.
   */
  override send(code: number, text?: string | string[] | null, context?: string | false): void {
    if (code === 535 || code === 454) this.#loginFailed = true
    if (code === 530 && this.secure && this.#loginFailed) {
      this.send(454, '4.7.0 Authentication has failed: set a valid API key')
      return
    }
    count('smtp_replies_total', { code_class: CODE_CLASSES[Math.floor(code / 100) - 2] ?? '5xx' })
    const data = code === 530 && !this.secure ? '5.7.0 Must issue a STARTTLS command first' : text
    super.send(code, data, typeof data === 'string' && ENHANCED.test(data) ? false : context)
  }

  override _createParser(): CommandStream {
    const parser = new CommandStream({ maxCommandLength: this._server.options.maxCommandLength })
    const refuse: CommandStream['onviolation'] = ({ code, text }) => {
      this.send(code, text)
      this.close()
    }
    const carryOut: CommandStream['oncommand'] = (command, callback) => {
      const violation = parser.violationBehind(command)
      if (!violation) return this._onCommand(command, callback && (() => inShareOfTurn(callback)))
      refuse(violation)
      callback?.()
    }
    parser.onviolation = refuse
    parser.oncommand = carryOut
    parser.on('error', (error: Error) => this.send(421, `4.5.0 ${error.message}`))
    return parser
  }

  /** Ends the session of a server that stops (RFC 5321 3.8). */
  sayGoodbye(): void {
    this.send(421, '4.3.2 Server shutting down, try again later')
  }

  override _onCommand(command: Buffer, callback?: () => void): void {
    // Plain text before the end of a TLS handshake is no command.
    if (this._server.isStopping && !this._upgrading) {
      this.sayGoodbye()
      return
    }
    this.owesSince = Number.POSITIVE_INFINITY
    this.#needsNoAuth = sendsByNetwork.has(this.session) && !ASKS_FOR_AUTH.test(command.toString('latin1', 0, 5))
    super._onCommand(command, () => {
      this.owesSince = performance.now()
      callback?.()
    })
  }

  override _resetSession(): void {
    this.owesSince = performance.now()
    super._resetSession()
  }

  /** V05: AUTH is offered under TLS only. A client that uses it anyway gets 538, and its password is never read. */
  override handler_EHLO(command: Buffer, callback: () => void): void {
    this.#plainEhlo = !this.secure
    super.handler_EHLO(command, callback)
    this.#plainEhlo = false
  }

  /** RFC 5321 4.1.1.5. */
  override handler_RSET(command: Buffer, callback: () => void): void {
    const alone = !command.toString('latin1').trim().includes(' ')
    if (alone) return void super.handler_RSET(command, callback)
    this.send(501, '5.5.4 RSET takes no arguments')
    callback()
  }

  /** RFC 5321 4.2.4: 502 is for commands that are recognized but not implemented. */
  handler_EXPN(_command: Buffer, callback: () => void): void {
    this.send(502, '5.5.1 EXPN is not implemented')
    callback()
  }

  /** RFC 5321 3.5.3: the reply of a server that verifies no addresses, so that it reveals none. */
  override handler_VRFY(command: Buffer, callback: () => void): void {
    const hasAddress = /\s\S/.test(command.toString('latin1').trim())
    if (hasAddress) this.send(252, 'Cannot VRFY user, but will accept message and attempt delivery')
    else this.send(501, 'Error: Syntax: VRFY address')
    callback()
  }

  override _isSupported(command: string): boolean {
    return !((this.#plainEhlo || this.#needsNoAuth) && command === 'AUTH') && super._isSupported(command)
  }

  override _parseAddressCommand(rawName: string, rawCommand: Buffer | string): ParsedPath | false {
    return parsePath(rawName.toUpperCase() as 'MAIL FROM' | 'RCPT TO', Buffer.from(rawCommand), {
      host: this.name,
      sender: senderDomains.get(this.session),
    })
  }
}

/**
 * smtp-server with {@link RelayConnection} sessions. On a port with TLS from the start, a session begins when the handshake has ended. Until then
 * smtp-server gives the socket an idle time, which any byte begins again, and counts it among those of all clients only.
 */
export class RelayServer extends SMTPServer {
  /** From now on, new sessions and commands get 421. */
  isStopping = false
  readonly #handshakes: ClientCount | undefined
  /** Sockets in their handshake, and performance.now() at which it began. */
  readonly #handshaking = new Map<Socket, number>()

  /** `handshakes`: counts the sockets in their handshake. */
  constructor(options: SMTPServerOptions, handshakes?: ClientCount) {
    super({ heloResponse: '%s greets %s', ...options })
    this.#handshakes = handshakes
  }

  /** Returns the function that smtp-server calls when the handshake has ended; false if the socket is refused. No reply is possible before TLS. */
  override _acceptSocket(socket: Socket, handshake: boolean): (() => void) | false {
    if (!handshake) return super._acceptSocket(socket, handshake)
    const address = socket.remoteAddress ?? ''
    if (this.#handshakes && !this.#handshakes.enter(address)) {
      socket.on('error', () => {})
      socket.destroy()
      return false
    }
    const release = super._acceptSocket(socket, handshake)
    if (!release) {
      this.#handshakes?.leave(address)
      return false
    }
    this.#handshaking.set(socket, performance.now())
    const leave = (): void => {
      socket.off('close', leave)
      if (this.#handshaking.delete(socket)) this.#handshakes?.leave(address)
      release()
    }
    socket.once('close', leave)
    return leave
  }

  /** The sockets that have no session yet, because their TLS handshake has not ended. */
  get handshaking(): number {
    return this.#handshaking.size
  }

  /** Ends the sockets whose handshake has taken longer. */
  endSlowHandshakes(maxMs: number): void {
    const now = performance.now()
    for (const [socket, since] of this.#handshaking) {
      // The TLS socket on top of it, if there is one: smtp-server explains why the lower one must not be destroyed.
      if (now - since > maxMs) (this._pendingSockets.get(socket) ?? socket).destroy()
    }
  }

  override connect(...[socket, options]: Parameters<SMTPServer['connect']>): void {
    const connection = new RelayConnection(this, socket, options)
    this.connections.add(connection)
    count('smtp_sessions_total', { tls: this.options.secure ? 'implicit' : 'none' })
    connection.on('error', (error) => this._onError(error))
    connection.on('connect', (data) => this._onClientConnect(data))
    connection.init()
  }
}

import { SMTPServer } from 'smtp-server'
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'
import { CommandStream } from './command-stream.ts'
import { type ParsedPath, parsePath } from './path.ts'
import { inShareOfTurn } from './share-of-turn.ts'

/** A text that begins with its own enhanced code (RFC 2034). */
const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3} /

/**
 * One SMTP session. What the library does otherwise: it waits 100 ms before the greeting, which caps clients that open a
 * connection per message at 460 messages a second; it offers AUTH in plain text; it has address rules of its own.
 */
export class RelayConnection extends SMTPConnection {
  /** performance.now() since which this client owes us a complete command or message data. */
  owesSince = performance.now()
  #plainEhlo = false

  override init(): void {
    this._setListeners(() => {
      const most = this._server.options.maxClients
      if (most && this._server.connections.size > most) {
        this.send(421, '4.3.2 Too many connections, try again in a moment')
        return
      }
      this.connectionReady()
    })
  }

  /** A client that has a password and no TLS is told which of the two is missing (RFC 3207 4). */
  override send(code: number, told?: string | string[] | null, context?: string | false): void {
    const data = code === 530 && !this.secure ? '5.7.0 Must issue a STARTTLS command first' : told
    super.send(code, data, typeof data === 'string' && ENHANCED.test(data) ? false : context)
  }

  override _createParser(): CommandStream {
    const parser = new CommandStream({ maxCommandLength: this._server.options.maxCommandLength })
    parser.onviolation = ({ code, text }) => {
      this.send(code, text)
      this.close()
    }
    parser.oncommand = (command, callback) => {
      const violation = parser.violationBehind(command)
      if (!violation) return this._onCommand(command, callback && (() => inShareOfTurn(callback)))
      parser.onviolation(violation)
      callback?.()
    }
    parser.on('error', (error: Error) => this.send(421, `4.5.0 ${error.message}`))
    return parser
  }

  override _onCommand(command: Buffer, callback?: () => void): void {
    this.owesSince = Number.POSITIVE_INFINITY
    super._onCommand(command, () => {
      this.owesSince = performance.now()
      callback?.()
    })
  }

  override _resetSession(): void {
    this.owesSince = performance.now()
    super._resetSession()
  }

  /** V05: AUTH is offered under TLS only; a client that tries it anyway gets 538 and its password is never looked at. */
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

  /** RFC 5321 4.2.4: 502 is for what is known and not done. */
  handler_EXPN(_command: Buffer, callback: () => void): void {
    this.send(502, '5.5.1 EXPN is not implemented')
    callback()
  }

  override _isSupported(command: string): boolean {
    return !(this.#plainEhlo && command === 'AUTH') && super._isSupported(command)
  }

  override _parseAddressCommand(rawName: string, rawCommand: Buffer | string): ParsedPath | false {
    return parsePath(rawName.toUpperCase() as 'MAIL FROM' | 'RCPT TO', Buffer.from(rawCommand), this.name)
  }
}

/** The library's server, with our sessions. */
export class RelayServer extends SMTPServer {
  override connect(...[socket, options]: Parameters<SMTPServer['connect']>): void {
    const connection = new RelayConnection(this, socket, options)
    this.connections.add(connection)
    connection.on('error', (error) => this._onError(error))
    connection.on('connect', (data) => this._onClientConnect(data))
    connection.init()
  }
}

import type { SMTPServer, SMTPServerSession } from 'smtp-server'

type Connection = SMTPServer['connections'] extends Set<infer Member> ? Member : never

/** The connections of a server, which smtp-server does not pass to handlers. */
export class Connections {
  readonly #server: SMTPServer
  #brokenHandshakes = 0

  constructor(server: SMTPServer) {
    this.#server = server
  }

  /** Closes the connection without a reply. */
  hangUp(session: SMTPServerSession): void {
    this.#connectionOf(session)?._socket.destroy()
  }

  /** Breaks the next TLS handshake of any session. */
  breakHandshake(): void {
    this.#brokenHandshakes++
  }

  /** Must be called for each new session. Not done in SNICallback: its errors are ignored, and many clients send no server name. */
  mayBreakTls(session: SMTPServerSession): void {
    const connection = this.#connectionOf(session)
    const upgrade = connection?.upgrade.bind(connection)
    if (!connection || !upgrade) return
    connection.upgrade = (...args) => {
      if (this.#brokenHandshakes === 0) return upgrade(...args)
      this.#brokenHandshakes--
      connection._socket.end('this is not TLS\r\n')
    }
  }

  #connectionOf({ id }: SMTPServerSession): Connection | undefined {
    return [...this.#server.connections].find((connection) => connection.id === id)
  }
}

import { type Certificate, type Config, type Core, createByteBudget, LIMITS, type Log } from '@postrider/core'
import { type RelayConnection, RelayServer } from './connection.ts'
import { sessionHandlers } from './session.ts'

export interface RelayOptions {
  readonly core: Core
  readonly config: Config
  readonly log: Log
  readonly certificate: Certificate
}

export interface Relay {
  listen(): Promise<void>
  /** Accepts no new connection and no new command (421); messages being received are completed. */
  close(): Promise<void>
}

const MAX_CLIENTS = 2000
/** Maximum milliseconds between commands; RFC 5321 4.5.3.2.7 requires at least five minutes. */
const COMMAND_MS = 300_000
/** Minimum bytes per second of a message after the first minute; slower clients are disconnected (V10). */
const MIN_BYTES_PER_SECOND = 500
const RATE_GRACE_MS = 60_000
const CHECK_INTERVAL_MS = 5000
/** Sessions still open this long after close() are ended. */
const CLOSE_MS = 20_000

/** The SMTP relay on its two ports: STARTTLS and implicit TLS. */
export function createRelay({ core, config, log, certificate }: RelayOptions): Relay {
  const budget = createByteBudget(config.bodyBudget)
  const make = (secure: boolean): RelayServer => {
    const server = new RelayServer({
      ...certificate,
      ...sessionHandlers({ core, log, budget, trusted: config.relayTrusted }),
      secure,
      name: config.heloName,
      banner: 'Postrider',
      size: LIMITS.messageSize,
      maxRecipients: LIMITS.smtpRecipients,
      maxClients: MAX_CLIENTS,
      socketTimeout: COMMAND_MS,
      closeTimeout: CLOSE_MS,
      minVersion: 'TLSv1.2',
      authMethods: ['PLAIN', 'LOGIN'],
      // With trusted networks, the session's handlers require authentication.
      authOptional: config.relayTrusted !== undefined,
      authRequiredMessage: '5.7.0 Authentication required',
      disabledCommands: ['WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'],
      disableReverseLookup: true,
      hideENHANCEDSTATUSCODES: false,
      maxAllowedUnauthenticatedCommands: 20,
      logger: false,
    })
    // Without a listener, one invalid TLS record would end the process.
    server.on('error', (err) => log.debug({ err }, 'connection failed'))
    return server
  }
  const servers = [
    { server: make(false), port: config.relayPort },
    { server: make(true), port: config.relayTlsPort },
  ]
  const checks = setInterval(() => {
    for (const { server } of servers)
      for (const connection of server.connections) endIfSlow(connection as RelayConnection)
  }, CHECK_INTERVAL_MS)

  return {
    async listen() {
      for (const { server, port } of servers) {
        await new Promise<void>((resolve, reject) => {
          server.server.once('error', reject)
          server.listen(port, config.relayHost, () => resolve())
        })
      }
    },
    async close() {
      clearInterval(checks)
      await Promise.all(servers.map(({ server }) => closeServer(server)))
    },
  }
}

async function closeServer(server: RelayServer): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Idle sessions get 421 now instead of after their next command.
  for (const connection of server.connections) {
    const idle = !connection._dataStream && !connection._handlerPending && !connection.session.envelope?.mailFrom
    if (idle) connection.send(421, '4.3.2 Server shutting down')
  }
  await closed
}

/** Ends sessions that send slowly: each byte resets the socket's own timeout. */
function endIfSlow(connection: RelayConnection): void {
  const now = performance.now()
  const since = now - connection.owesSince
  if (!connection._dataStream) {
    if (since > COMMAND_MS) connection.send(421, '4.4.2 Timeout - closing connection')
    return
  }
  const parser = connection._parser || undefined
  // The message is complete; the client is waiting for a reply.
  if (!parser?._dataMode) return
  const slow = since > RATE_GRACE_MS && parser.dataBytes / (since / 1000) < MIN_BYTES_PER_SECOND
  if (slow) connection.send(421, '4.4.2 Message data too slow')
}

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
  /** No new connection, no new command: 421; messages being received are finished. */
  close(): Promise<void>
}

const MOST_CLIENTS = 2000
/** Milliseconds a client may take for one command; RFC 5321 4.5.3.2.7 asks for at least five minutes. */
const COMMAND_MS = 300_000
/** A message that comes in slower than this many octets a second, after a first minute, is a client holding us up (V10). */
const LEAST_RATE = 500
const RATE_GRACE_MS = 60_000
const LOOK_EVERY_MS = 5000
/** Sessions still open this long after close are ended. */
const CLOSE_MS = 20_000

/** The SMTP relay on its two ports: STARTTLS, and TLS from the first byte. */
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
      maxClients: MOST_CLIENTS,
      socketTimeout: COMMAND_MS,
      closeTimeout: CLOSE_MS,
      minVersion: 'TLSv1.2',
      authMethods: ['PLAIN', 'LOGIN'],
      // With trusted networks it is the session that asks who is who.
      authOptional: config.relayTrusted !== undefined,
      authRequiredMessage: '5.7.0 Authentication required',
      disabledCommands: ['WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'],
      disableReverseLookup: true,
      hideENHANCEDSTATUSCODES: false,
      maxAllowedUnauthenticatedCommands: 20,
      logger: false,
    })
    // Without a listener one bad TLS record would end the process.
    server.on('error', (err) => log.debug({ err }, 'connection failed'))
    return server
  }
  const servers = [
    { server: make(false), port: config.relayPort },
    { server: make(true), port: config.relayTlsPort },
  ]
  const looking = setInterval(() => {
    for (const { server } of servers)
      for (const connection of server.connections) endIfSlow(connection as RelayConnection)
  }, LOOK_EVERY_MS)

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
      clearInterval(looking)
      await Promise.all(servers.map(({ server }) => closeServer(server)))
    },
  }
}

async function closeServer(server: RelayServer): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Sessions between two messages are told now; they need not find out with their next command.
  for (const connection of server.connections) {
    const idle = !connection._dataStream && !connection._handlerPending && !connection.session.envelope?.mailFrom
    if (idle) connection.send(421, '4.3.2 Server shutting down')
  }
  await closed
}

/** Ends sessions that drip: bytes alone keep a socket's own timeout from firing. */
function endIfSlow(connection: RelayConnection): void {
  const now = performance.now()
  const since = now - connection.owesSince
  if (!connection._dataStream) {
    if (since > COMMAND_MS) connection.send(421, '4.4.2 Timeout - closing connection')
    return
  }
  const parser = connection._parser || undefined
  // All of the message is here: it is we who owe the client a reply.
  if (!parser?._dataMode) return
  const slow = since > RATE_GRACE_MS && parser.dataBytes / (since / 1000) < LEAST_RATE
  if (slow) connection.send(421, '4.4.2 The message comes in too slowly')
}

import { type InheritedSockets, listen, measure, NO_SOCKETS, type SocketName, stopListening } from '@postrider/core'
import type { RelayConnection, RelayServer } from './connection.ts'

export interface SmtpServers {
  listen(): Promise<void>
  /** Accepts no new connection and no new command (421); messages being received are completed. */
  close(): Promise<void>
}

/** Maximum milliseconds between commands; RFC 5321 4.5.3.2.7 requires at least five minutes. */
export const COMMAND_MS = 300_000
/** Milliseconds of a TLS handshake on a port with TLS from the start. */
const HANDSHAKE_MS = 30_000
/** Sessions still open this long after close() are ended. */
export const CLOSE_MS = 20_000
/** At an inherited socket, milliseconds of sessions in progress, and of a pause that ends one; see finishSessions. */
const FINISH_MS = 6000
const FINISH_STEP_MS = 100
const PAUSE_MS = 1000
/** Minimum bytes per second of a message after the first minute; slower clients are disconnected (V10). */
const MIN_BYTES_PER_SECOND = 500
const RATE_GRACE_MS = 60_000
const CHECK_INTERVAL_MS = 5000

/** Returns the milliseconds that a session may last, when its server has this many connections. */
export type SessionLimit = (connection: RelayConnection, connections: number) => number

export interface SmtpServersOptions {
  readonly servers: readonly { readonly name: SocketName; readonly server: RelayServer; readonly port: number }[]
  readonly host: string
  readonly sockets?: InheritedSockets | undefined
  readonly maxSessionMs?: SessionLimit
}

/**
 * Runs the servers of a process, each on its port or inherited socket, and ends sessions that send slowly, or are older than `maxSessionMs`
 * allows.
 */
export function runSmtpServers({
  servers,
  host,
  sockets = NO_SOCKETS,
  maxSessionMs = () => Number.POSITIVE_INFINITY,
}: SmtpServersOptions): SmtpServers {
  const checks = setInterval(() => {
    for (const { server } of servers) {
      server.endSlowHandshakes(HANDSHAKE_MS)
      for (const one of server.connections) {
        const connection = one as RelayConnection
        endIfSlow(connection, maxSessionMs(connection, server.connections.size))
      }
    }
  }, CHECK_INTERVAL_MS)
  const forget = measure(() => ({
    smtp_connections: servers.reduce((sum, { server }) => sum + server.connections.size, 0),
  }))
  return {
    async listen() {
      for (const { name, server, port } of servers) await listen(server.server, sockets.target(name, host, port))
    },
    async close() {
      clearInterval(checks)
      forget()
      await Promise.all(
        servers.map(async ({ name, server }) => {
          if (sockets.fd(name) !== undefined) await finishSessions(server)
          await closeServer(server)
        }),
      )
    },
  }
}

/**
 * Stops listening on an inherited socket. Sessions go on for up to six seconds, since another process serves the next ones; a client that pauses
 * for a second gets 421.
 */
async function finishSessions(server: RelayServer): Promise<void> {
  let ended = false
  const all = stopListening(server.server).then(() => (ended = true))
  for (let waited = 0; !ended && waited < FINISH_MS; waited += FINISH_STEP_MS) {
    await Promise.race([all, new Promise((resolve) => setTimeout(resolve, FINISH_STEP_MS))])
    for (const connection of server.connections) {
      const { owesSince } = connection as RelayConnection
      if (isIdle(connection as RelayConnection) && performance.now() - owesSince > PAUSE_MS)
        sayGoodbye(connection as RelayConnection)
    }
  }
}

async function closeServer(server: RelayServer): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Idle sessions get 421 now instead of after their next command.
  for (const connection of server.connections) {
    if (isIdle(connection as RelayConnection)) sayGoodbye(connection as RelayConnection)
  }
  await closed
}

function isIdle(connection: RelayConnection): boolean {
  return !connection._dataStream && !connection._handlerPending && !connection.session.envelope?.mailFrom
}

function sayGoodbye(connection: RelayConnection): void {
  connection.send(421, '4.3.2 Server shutting down')
}

/** Ends sessions that send slowly: each byte resets the socket's own timeout. */
function endIfSlow(connection: RelayConnection, maxSessionMs: number): void {
  const now = performance.now()
  const since = now - connection.owesSince
  const parser = connection._parser || undefined
  // The message is complete; the client is waiting for a reply.
  if (connection._dataStream && !parser?._dataMode) return
  if (now - connection.openedAt > maxSessionMs) {
    connection.send(421, '4.7.0 Session too long - closing connection')
    return
  }
  if (!connection._dataStream || !parser) {
    if (since > COMMAND_MS) connection.send(421, '4.4.2 Timeout - closing connection')
    return
  }
  const slow = since > RATE_GRACE_MS && parser.dataBytes / (since / 1000) < MIN_BYTES_PER_SECOND
  if (slow) connection.send(421, '4.4.2 Message data too slow')
}

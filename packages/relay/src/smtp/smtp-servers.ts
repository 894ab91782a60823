import { X509Certificate } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type Certificate,
  type InheritedSockets,
  listen,
  measure,
  NO_SOCKETS,
  type SocketName,
  stopListening,
} from '@postrider/core'
import type { RelayConnection, RelayServer } from './connection.ts'

export interface SmtpServers {
  listen(): Promise<void>
  /**
   * Completes messages that are being received. All else gets 421: open sessions, and new ones until it closes. At inherited sockets that
   * `haveSuccessor`, no new ones are accepted: they are for the process that listens on them next.
   */
  close(options?: { readonly haveSuccessor?: boolean }): Promise<void>
}

/** Maximum milliseconds between commands; RFC 5321 4.5.3.2.7 requires at least five minutes. */
export const COMMAND_MS = 300_000
/** Milliseconds of a TLS handshake on a port with TLS from the start. */
const HANDSHAKE_MS = 30_000
/** Sessions still open this long after close() are ended. */
export const CLOSE_MS = 20_000
/** Of these, milliseconds of TLS handshakes, which must have ended before 421 can be said. */
const CLOSE_HANDSHAKE_MS = 2000
/** Milliseconds in which a client closes its connection after 421. */
const CLOSE_SOCKET_MS = 500
/** At an inherited socket, milliseconds of sessions in progress, and of a pause that ends one; see finishSessions. */
const FINISH_MS = 6000
const STEP_MS = 100
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
  /** The certificate of its servers, for the metrics; undefined without TLS. */
  readonly certificate?: Certificate
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
  certificate,
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
  const validTo = certificate && Date.parse(new X509Certificate(certificate.cert).validTo)
  const forget = measure(() => ({
    smtp_connections: servers.reduce((sum, { server }) => sum + server.connections.size, 0),
    certificate_seconds: validTo && (validTo - Date.now()) / 1000,
  }))
  return {
    async listen() {
      for (const { name, server, port } of servers) await listen(server.server, sockets.target(name, host, port))
    },
    async close({ haveSuccessor = true } = {}) {
      clearInterval(checks)
      forget()
      const inherited = haveSuccessor ? servers.filter(({ name }) => sockets.fd(name) !== undefined) : []
      await Promise.all(inherited.map(({ server }) => finishSessions(server)))
      const all = servers.map(({ server }) => server)
      await dismissSessions(all)
      await Promise.all(all.map(closeServer))
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
  for (let waited = 0; !ended && waited < FINISH_MS; waited += STEP_MS) {
    await Promise.race([all, pause(STEP_MS)])
    for (const connection of server.connections) {
      const { owesSince } = connection as RelayConnection
      if (isIdle(connection as RelayConnection) && performance.now() - owesSince > PAUSE_MS)
        (connection as RelayConnection).sayGoodbye()
    }
  }
}

/** Says 421 to new sessions, to idle ones, and to the others when what they are at has been answered. Resolves when none is left. */
async function dismissSessions(servers: readonly RelayServer[]): Promise<void> {
  for (const server of servers) server.isStopping = true
  for (let waited = 0; waited < CLOSE_MS; waited += STEP_MS) {
    const mayShake = waited < CLOSE_HANDSHAKE_MS
    for (const one of servers.flatMap(({ connections }) => [...connections])) {
      const connection = one as RelayConnection
      if (isIdle(connection) && !(mayShake && connection._upgrading)) connection.sayGoodbye()
    }
    if (!servers.some(({ connections, handshaking }) => connections.size > 0 || (mayShake && handshaking > 0))) return
    await pause(STEP_MS)
  }
}

async function closeServer(server: RelayServer): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  for (const connection of server.connections) (connection as RelayConnection).sayGoodbye()
  await Promise.race([closed, pause(CLOSE_SOCKET_MS)])
}

function isIdle(connection: RelayConnection): boolean {
  return !connection._dataStream && !connection._handlerPending && !connection.session.envelope?.mailFrom
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

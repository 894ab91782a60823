import type { Socket } from 'node:net'

/** Milliseconds between two turns. */
export const TURN = 250
/** Turns within which a connection must be established. The driver's own timer ends all that were being established while the process was busy. */
const MAX_CONNECTING = 20
/** Turns a statement may take at most without having its connection to itself: nothing waits behind one that may take longer. */
const MAX_SHARED = 24

/**
 * Turns after which a connection that no one used is closed. Each is a process of Postgres with 3 to 10 MB of its own; readiness keeps one open, which
 * serves the next message.
 */
const MAX_IDLE = 240
/** Turns within which the database must have closed its side then. */
const MAX_ENDING = 20

/** A statement of the driver. */
export interface DriverQuery {
  /** Turns it may wait for a connection, and then for any sign of activity on it; 0 without a deadline. */
  readonly deadline: number
  /** Turns it has waited for a connection. */
  waited: number
  reject(error: Error): void
}

interface Queue<T> {
  readonly length: number
  push(element: T): unknown
  shift(): T
  remove(element: T): unknown
}

/** A connection of the driver, which may not be connected. */
export interface DriverConnection {
  readonly socket: Pick<Socket, 'bytesRead' | 'writableLength' | 'connecting' | 'destroy' | 'resetAndDestroy'> | null
  /** The statement it is executing. */
  readonly query: DriverQuery | null
  /** The statement that waits for it to be established. */
  readonly initial: DriverQuery | null
  readonly idleTimer: { cancel(): void }
  queue: Queue<DriverConnection>
  /** Closes it once it has nothing to do; a later statement opens it again. */
  end(): unknown
  /** Fails its statement, and the one that waits for the connection. */
  errored(error: Error): void
  /** Fails these and what was sent behind them. */
  error(error: Error): void
}

/** The part of a pool that the patch of the driver exposes (docs/decisions/0007-driver-patch.md). */
export interface DriverPool {
  readonly connections: readonly DriverConnection[]
  /** The statements that wait for any connection. */
  readonly queries: Queue<DriverQuery>
  readonly queues: Readonly<Record<'open' | 'busy' | 'full' | 'ended', Queue<DriverConnection>>>
}

/** Where a pool connects to. */
interface Address {
  readonly host: readonly string[]
  readonly port: readonly number[]
  readonly path?: unknown
  readonly ssl?: unknown
}

export interface DeadlineFields {
  readonly deadline: number
  readonly alone: boolean
}

/** The fields of a statement with this deadline in milliseconds. */
export function deadlineFields(milliseconds: number): DeadlineFields {
  const deadline = Math.ceil(milliseconds / TURN)
  return { deadline, alone: deadline > MAX_SHARED }
}

export interface WatchOptions {
  /** Whether idle connections are closed. Not those of a session, whose locks would be lost. */
  readonly closesIdle?: boolean
}

/** The state of a connection at the last turn. */
interface Observation {
  socket: DriverConnection['socket']
  bytesRead: number
  bytesUnsent: number
  /** The last turn at which something had been read or sent. */
  heard: number
  /** Turns for which its statement has waited without any activity. */
  quiet: number
  /** Turns for which it has been being established. */
  connecting: number
  /** Turns for which it has been idle, or has been closing. */
  unused: number
}

/**
 * Enforces the deadlines of a pool's statements. Counts turns and not time, so that a process that was busy or suspended does not count that
 * time as waiting; and compares bytes, since a timer per statement takes more processor time.
 */
export class ConnectionWatch {
  readonly #pool: DriverPool
  readonly #address: Address
  readonly #closesIdle: boolean
  readonly #observations: ReadonlyMap<DriverConnection, Observation>
  /** Turns at which anything was waited for. */
  #now = 0

  constructor(pool: DriverPool, address: Address, { closesIdle = false }: WatchOptions = {}) {
    this.#pool = pool
    this.#address = address
    this.#closesIdle = closesIdle
    this.#observations = new Map(
      pool.connections.map((connection) => [
        connection,
        { socket: null, bytesRead: 0, bytesUnsent: 0, heard: 0, quiet: 0, connecting: 0, unused: 0 },
      ]),
    )
  }

  /** Milliseconds since there was activity on any connection, while anything was waited for. */
  quietFor(): number {
    const heard = [...this.#observations.values()].map((observation) => observation.heard)
    return (this.#now - Math.max(...heard)) * TURN
  }

  /** Called once per {@link TURN}. */
  turn(): void {
    const { connections, queries } = this.#pool
    if (queries.length > 0 || connections.some(({ query, initial }) => query || initial)) this.#now++
    const silent = [...this.#observations].filter(([connection, observation]) =>
      this.#isSilent(connection, observation),
    )
    for (const [connection, observation] of silent) this.#dropSilent(connection, observation)
    if (this.#closesIdle)
      for (const [connection, observation] of this.#observations) this.#closeUnused(connection, observation)
    for (let left = queries.length; left > 0; left--) {
      const query = queries.shift()
      if (isOverdue(query)) query.reject(this.#errorOf('CONNECT_TIMEOUT'))
      else queries.push(query)
    }
  }

  #isSilent(connection: DriverConnection, observation: Observation): boolean {
    const { socket, query, initial } = connection
    const bytesRead = socket?.bytesRead ?? 0
    const bytesUnsent = socket?.writableLength ?? 0
    const isNew = socket !== observation.socket
    const isActive = isNew || bytesRead !== observation.bytesRead || bytesUnsent !== observation.bytesUnsent
    Object.assign(observation, { socket, bytesRead, bytesUnsent })
    if (isActive) observation.heard = this.#now
    const { open, ended } = this.#pool.queues
    const isUnused = connection.queue === ended || (connection.queue === open && !isActive)
    observation.unused = isUnused ? observation.unused + 1 : 0
    observation.quiet = isActive || !query || initial ? 0 : observation.quiet + 1
    // Its first statement is `initial` until the database is ready, and runs on it while the driver still has it in its queue `connecting`.
    const isConnecting = socket !== null && initial !== null
    observation.connecting = isConnecting ? (isNew ? 0 : observation.connecting) + 1 : 0
    if ((initial && isOverdue(initial)) || observation.connecting > MAX_CONNECTING) {
      observation.connecting = 0
      // Its statement was never sent.
      connection.errored(this.#errorOf('CONNECT_TIMEOUT'))
      this.#close(connection)
    }
    return !initial && query !== null && query.deadline > 0 && observation.quiet > query.deadline
  }

  #closeUnused(connection: DriverConnection, observation: Observation): void {
    const { open, ended } = this.#pool.queues
    if (connection.queue === open && observation.unused >= MAX_IDLE) {
      observation.unused = 0
      connection.end()
    } else if (connection.queue === ended && observation.unused > MAX_ENDING) this.#close(connection)
  }

  /**
   * Drops a silent connection, and idle ones without activity since then, which may be as dead: nothing is lost with them. If there was no
   * activity on any, the database is silent, and what has waited as long on another connection waits in vain.
   */
  #dropSilent(connection: DriverConnection, { quiet }: Observation): void {
    // Activity just before is counted one turn later.
    const since = this.#now - quiet + 1
    const others = [...this.#observations].filter(([other]) => other !== connection)
    const isAlone = others.some(([, { heard }]) => heard > since)
    this.#drop(connection)
    for (const [other, observation] of others) {
      if (observation.heard > since) continue
      const waitsInVain = !isAlone && other.query && other.query.deadline > 0 && this.#now - observation.quiet <= since
      if (other.queue === this.#pool.queues.open || waitsInVain) this.#drop(other)
    }
  }

  /** Its statements may have been executed. */
  #drop(connection: DriverConnection): void {
    const { open, busy, full } = this.#pool.queues
    if (connection.queue === open || connection.queue === busy) {
      // Nothing more is sent on it until it is closed.
      connection.queue.remove(connection)
      full.push(connection)
      connection.queue = full
      connection.idleTimer.cancel()
    }
    connection.error(this.#errorOf('CONNECTION_SILENT'))
    this.#close(connection)
  }

  /** A reset discards what has not left this host. */
  #close({ socket }: DriverConnection): void {
    if (!socket) return
    if (this.#address.ssl || this.#address.path || socket.connecting) socket.destroy()
    else socket.resetAndDestroy()
  }

  #errorOf(code: 'CONNECT_TIMEOUT' | 'CONNECTION_SILENT'): Error {
    const { path, host, port } = this.#address
    const place = path ? { address: path } : { address: host, port }
    return Object.assign(new Error(`write ${code} ${path || `${host}:${port}`}`), { code, errno: code, ...place })
  }
}

/** Counts one turn of waiting for a connection, and says whether that was one too many. */
function isOverdue(query: DriverQuery): boolean {
  return query.deadline > 0 && ++query.waited > query.deadline
}

import { connect, type Socket } from 'node:net'
import postgres from 'postgres'

/** The database, as the domain sees it: a pool or a transaction of it. A store never cares which. */
export type Sql = postgres.Sql
export type SqlTransaction = postgres.TransactionSql
export type AnySql = Sql | SqlTransaction

export interface DatabaseOptions {
  readonly url: string
  /** Shown in pg_stat_activity. */
  readonly name: string
  /** Connections at most, apart from the one that listens. */
  readonly connections: number
}

/**
 * Opens the pool. Nothing is connected until the first query.
 *
 * Statements end after 15 s on the server, so that a stalled database refuses a client before the client gives up on us
 * (P1: never an acknowledgement after the client's deadline).
 */
export function openDatabase({ url, name, connections }: DatabaseOptions): Sql {
  // Nagle must be off: postgres.js leaves it on, which cut streaming COPY from 4,000 to 520 messages a second. Only where we
  // know how to make the socket ourselves: one host, no TLS; elsewhere the driver's own socket serves. Several hosts with
  // ports are no URL to the platform, though the driver reads them.
  const target = URL.canParse(url) ? new URL(url) : undefined
  const oneHost = target !== undefined && target.hostname !== '' && !target.hostname.includes(',')
  const plainTcp = oneHost && !/[?&]ssl(mode)?=/.test(target.search)
  return postgres(url, {
    max: connections,
    connect_timeout: 5,
    // Of the kernel, for connections nobody asks anything on; what waits for an answer has a deadline (deadlines.ts).
    keep_alive: 5,
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => {},
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 2),
    connection: {
      application_name: `postrider ${name}`,
      statement_timeout: 15_000,
      // Statements take lists of which a plan for all serves as well as a plan for each, and planning one that joins two
      // partitioned tables takes 0.8 ms: a tenth of an idle message's way (`node bench/cpu.ts --one`).
      plan_cache_mode: 'force_generic_plan',
      // A plan for any number of rows looks dear enough to be compiled anew at each run, which takes longer than the run.
      jit: 'off',
      // Nothing of ours rests in a transaction; what does has lost us, and holds its locks.
      idle_in_transaction_session_timeout: 15_000,
      // A host that loses power leaves its sessions behind, with their locks; the server's kernel notices within 15 s.
      tcp_keepalives_idle: 5,
      tcp_keepalives_interval: 3,
      tcp_keepalives_count: 3,
      tcp_user_timeout: 15_000,
    },
    ...(plainTcp ? { socket: (options: { host: string[]; port: number[] }) => quickSocket(options) } : {}),
  } as object)
}

/**
 * One connection of its own with the pool's settings, opened again when it is lost. For what a session holds, such as advisory
 * locks. Not the driver's reserve(): one that fails while the database is away takes a connection out of the pool for good
 * once it is back (its entry stays in the queue, with nobody to give the connection back).
 */
export function openSession(sql: Sql): Sql {
  // Alone, it need not wait as long as a crowd of connections before it knocks again.
  return postgres({ ...sql.options, max: 1, backoff: () => 0.1 } as object)
}

function quickSocket(options: { host: string[]; port: number[] }): Socket {
  return connect({ host: options.host[0] ?? 'localhost', port: options.port[0] ?? 5432, noDelay: true })
}

/** SQLSTATE of a database error, or the code of a broken connection; undefined for anything else. */
export function databaseErrorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}

const CONNECTION_LOST = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'CONNECTION_SILENT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'ENOENT',
])

/**
 * Is this the database being away or shutting down for a moment (connection exceptions 08, operator intervention 57P,
 * too many connections 53300)? Then the statement may or may not have committed.
 */
export function isDatabaseAway(error: unknown): boolean {
  const code = databaseErrorCode(error)
  if (code === undefined) return false
  return CONNECTION_LOST.has(code) || code.startsWith('08') || code.startsWith('57P') || code === '53300'
}

/**
 * SQLSTATE classes of what passes by itself: conflicts and deadlocks, no room or memory, locks, statements that were
 * cancelled, failing disks; and a server that is read-only until it is promoted.
 */
const PASSING = /^(40|53|55|57|58|25006)/

/** Is it the database's trouble, which passes, and not the statement's? */
export function isDatabaseTrouble(error: unknown): boolean {
  return isDatabaseAway(error) || PASSING.test(databaseErrorCode(error) ?? '')
}

/** Did the database roll back for a reason that goes away by trying again (deadlock, serialization)? */
export function isRetryable(error: unknown): boolean {
  const code = databaseErrorCode(error)
  return code === '40P01' || code === '40001'
}

/** Is the database out of room (53100 disk full, 53200 memory)? */
export function isDatabaseFull(error: unknown): boolean {
  const code = databaseErrorCode(error)
  return code === '53100' || code === '53200'
}

export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return databaseErrorCode(error) === '23505' && (error as { constraint_name?: unknown }).constraint_name === constraint
}

/**
 * A condition that no index is to be asked about. The service plans a statement once, for any account: where the average account is
 * small and this one large, an index of accounts looks as good as the one that finds the few rows, and reads millions.
 */
export function notByIndex(sql: AnySql, condition: ReturnType<AnySql>): ReturnType<AnySql> {
  return sql`(${condition}) is true`
}

/** Was the statement cancelled, as it took longer than it may (57014)? */
export function isTimeout(error: unknown): boolean {
  return databaseErrorCode(error) === '57014'
}

/** A row that must be there, since the statement always answers one. */
export function onlyRow<T>(rows: readonly T[]): T {
  const row = rows[0]
  if (row === undefined) throw new Error('the statement answered no row')
  return row
}

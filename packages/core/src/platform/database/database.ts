import postgres from 'postgres'
import { databaseAddress } from './connection-tls.ts'
import { addArrayTypes } from './driver/array-types.ts'
import { LISTEN_INTERVAL, Listener } from './driver/listen.ts'
import {
  ConnectionWatch,
  type DeadlineFields,
  type DriverPool,
  deadlineFields,
  TURN,
  type WatchOptions,
} from './driver/silent-connections.ts'
import { sessionName } from './session-name.ts'
import { sessionSettings } from './session-settings.ts'

/** A pool, or a transaction of one; stores work with either. */
export type Sql = postgres.Sql
/** A pool with what {@link openPool} and the patch of the driver add to it (docs/decisions/0007-driver-patch.md). */
export interface WatchedSql extends Sql {
  readonly watch: ConnectionWatch
  /** Returns the same pool, with these fields for each of its statements. */
  within(fields: DeadlineFields): WatchedSql
}
export type SqlTransaction = postgres.TransactionSql
export type AnySql = Sql | SqlTransaction

export interface DatabaseOptions {
  readonly url: string
  /** The program's name in pg_stat_activity: `postrider NAME vVERSION`. */
  readonly name: string
  /** See {@link keyMark} in key-rotation.ts. */
  readonly keyMark?: string | undefined
  /** Maximum number of connections, not counting the one that listens. */
  readonly connections: number
  /** The server refuses every change (25006). */
  readonly readOnly?: boolean
}

/**
 * Opens the pool. It connects at the first query.
 *
 * The server cancels statements after 15 s, so that with a stalled database the service rejects a request before the
 * client gives up (P1: no acknowledgement after the client's deadline).
 */
export function openDatabase({ url, name, connections, keyMark, readOnly = false }: DatabaseOptions): Sql {
  const address = databaseAddress(url)
  const options = {
    ...(address.ssl === undefined ? {} : { ssl: address.ssl }),
    max: connections,
    // See MAX_CONNECTING.
    connect_timeout: 0,
    // See driver/array-types.ts.
    fetch_types: false,
    // TCP keepalive in seconds, for idle connections; pending queries have a deadline (deadlines.ts).
    keep_alive: 5,
    // The watch of the pool closes idle connections, without a timer per statement.
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => {},
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 2),
    connection: {
      ...sessionSettings(),
      application_name: sessionName(name, keyMark),
      ...(readOnly ? { default_transaction_read_only: 'on' } : {}),
    },
  }
  return openPool([address.url, options], { closesIdle: true })
}

/** Opens a pool by the options of another one, and those that differ. */
export function openAlike(sql: Sql, differing: object): Sql {
  return openPool([{ ...sql.options, ...differing }])
}

/** Opens a pool of the driver whose statements can have deadlines, and which replaces a silent connection that listens. */
function openPool(to: [url: string, options: object] | [options: object], watching: WatchOptions = {}): WatchedSql {
  const sql = (postgres as (...to: unknown[]) => Sql)(...to) as WatchedSql & { readonly pool: DriverPool }
  const { options, end } = sql
  addArrayTypes(options)
  const watch = new ConnectionWatch(sql.pool, options, watching)
  const listener = new Listener((hooks) =>
    openPool([{ ...options, ...hooks, max: 1, idle_timeout: null, max_lifetime: null }]).within(
      deadlineFields(LISTEN_INTERVAL),
    ),
  )
  const timers = [setInterval(() => watch.turn(), TURN), setInterval(() => listener.beat(), LISTEN_INTERVAL)]
  for (const timer of timers) timer.unref()
  return Object.assign(sql, {
    watch,
    listen: listener.listen.bind(listener),
    async end(how?: { timeout?: number }) {
      await Promise.all([end(how), listener.end()])
      timers.forEach(clearInterval)
    },
  })
}

/**
 * Opens a dedicated connection with the pool's settings, which reconnects when it is lost. For session state such as
 * advisory locks. The driver's reserve() is not used: a call that fails while the database is unavailable permanently
 * removes a connection from the pool (its entry stays in the queue, with no caller to release the connection).
 */
export function openSession(sql: Sql): Sql {
  // A single connection can retry sooner than the many connections of a pool.
  return openAlike(sql, { max: 1, backoff: () => 0.1 })
}

/** Returns the SQLSTATE of a database error or the code of a broken connection; undefined for other errors. */
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
 * Whether the database is temporarily unavailable or shutting down (connection exceptions 08, operator intervention
 * 57P, too many connections 53300). The statement may or may not have been committed.
 */
export function isDatabaseAway(error: unknown): boolean {
  const code = databaseErrorCode(error)
  if (code === undefined) return false
  return CONNECTION_LOST.has(code) || code.startsWith('08') || code.startsWith('57P') || code === '53300'
}

const ANSWER_LOST = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECTION_SILENT',
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ETIMEDOUT',
])

/** Whether the connection was lost after a statement was sent: it may have been executed, or may yet be. */
export function isAnswerLost(error: unknown): boolean {
  const code = databaseErrorCode(error)
  return code !== undefined && (ANSWER_LOST.has(code) || code.startsWith('57P0'))
}

/**
 * SQLSTATE classes of temporary failures: conflicts and deadlocks, insufficient disk space or memory, locks, cancelled
 * statements, I/O errors; and a server that is read-only until it is promoted.
 */
const TEMPORARY_ERROR = /^(40|53|55|57|58|25006)/

/** Whether the error is a temporary failure of the database and not caused by the statement. */
export function isDatabaseTrouble(error: unknown): boolean {
  return isDatabaseAway(error) || TEMPORARY_ERROR.test(databaseErrorCode(error) ?? '')
}

/** Whether the transaction was rolled back for a reason that a retry can resolve (deadlock, serialization failure). */
export function isRetryable(error: unknown): boolean {
  const code = databaseErrorCode(error)
  return code === '40P01' || code === '40001'
}

/** Whether the database has run out of space (53100 disk, 53200 memory). */
export function isDatabaseFull(error: unknown): boolean {
  const code = databaseErrorCode(error)
  return code === '53100' || code === '53200'
}

export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return databaseErrorCode(error) === '23505' && (error as { constraint_name?: unknown }).constraint_name === constraint
}

/**
 * Makes a condition unusable for index scans. Statements have one generic plan for all accounts. Because the average
 * account is small, an index on accounts looks as selective as the index that finds the few matching rows. For a large
 * account it reads millions.
 */
export function notByIndex(sql: AnySql, condition: ReturnType<AnySql>): ReturnType<AnySql> {
  return sql`(${condition}) is true`
}

/** Whether the statement was cancelled because it exceeded its time limit (57014). */
export function isTimeout(error: unknown): boolean {
  return databaseErrorCode(error) === '57014'
}

/** Whether the statement was cancelled because it waited too long for a lock (55P03). */
export function isLockTimeout(error: unknown): boolean {
  return databaseErrorCode(error) === '55P03'
}

/** Returns the first row of a statement that always returns one. */
export function onlyRow<T>(rows: readonly T[]): T {
  const row = rows[0]
  if (row === undefined) throw new Error('the statement returned no row')
  return row
}

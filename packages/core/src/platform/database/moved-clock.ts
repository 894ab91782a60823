import { type AnySql, onlyRow, type SqlTransaction } from './database.ts'

/** The service's time in a sandbox whose clock was moved: at the moment `from` of the world it was `at`, and since then it has gone `speed` times as fast. */
export interface MovedClock {
  /** Milliseconds since 1970. */
  readonly from: number
  readonly at: number
  readonly speed: number
}

/** Speeds of a clock. */
export const SPEED = { least: 1, most: 1000 } as const

export function serviceTime({ from, at, speed }: MovedClock, world: number): number {
  return Math.round(at + (world - from) * speed)
}

/**
 * The definition of service_now() is all there is to a moved clock: the planner inlines it, so that a clock that was not moved costs nothing, and each
 * statement after the change has the new time.
 */
const MOVED = /^select timestamptz '([^']{24})' \+ \(now\(\) - timestamptz '([^']{24})'\) \* (\d{1,4})$/

function definitionOf({ from, at, speed }: MovedClock): string {
  return `select timestamptz '${isoOf(at)}' + (now() - timestamptz '${isoOf(from)}') * ${speed}`
}

const isoOf = (milliseconds: number) => new Date(milliseconds).toISOString()

/** The column from which {@link movedClock} reads. Null if there is no schema yet. */
export const clockColumn = (sql: AnySql) =>
  sql`(select prosrc from pg_proc where oid = to_regproc('service_now')) as clock`

/** Undefined if the clock was not moved. */
export function movedClock({ clock }: { readonly clock: string | null }): MovedClock | undefined {
  const [, at, from, speed] = MOVED.exec(clock ?? '') ?? []
  return at && from ? { at: Date.parse(at), from: Date.parse(from), speed: Number(speed) } : undefined
}

export interface ClockReading {
  /** The world's time, and the service's: milliseconds since 1970. */
  readonly world: number
  readonly now: number
  readonly moved: MovedClock | undefined
}

export async function readMovedClock(sql: AnySql): Promise<ClockReading> {
  const { world, now, clock } = onlyRow(
    await sql<{ world: number; now: number; clock: string | null }[]>`
      select floor(extract(epoch from now()) * 1000)::float8 as world, floor(extract(epoch from service_now()) * 1000)::float8 as now,
             ${clockColumn(sql)}`,
  )
  return { world, now, moved: movedClock({ clock }) }
}

/** Moves the clock of all processes with their next statements; undefined: back to the world's time. */
export async function defineClock(sql: SqlTransaction, moved: MovedClock | undefined): Promise<void> {
  const definition = moved ? definitionOf(moved).replaceAll("'", "''") : 'select now()'
  await sql.unsafe(
    `create or replace function service_now() returns timestamptz language sql stable as '${definition}'`,
  )
}

/** Two who move it at once would fail on each other. Until the transaction ends. */
export async function lockClock(sql: SqlTransaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('service_now'))`
}

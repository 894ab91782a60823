import { type Actor, OPERATOR } from '../../accounts/audit/index.ts'
import { noteOperatorChange } from '../../accounts/audit/note-operator-change.ts'
import type { Config } from '../../platform/config/config.ts'
import { isLockTimeout, onlyRow, type Sql, type SqlTransaction } from '../../platform/database/database.ts'
import {
  type ClockReading,
  defineClock,
  lockClock,
  type MovedClock,
  readMovedClock,
  SPEED,
} from '../../platform/database/moved-clock.ts'
import { ensurePartitionsIn } from '../../platform/database/partitions.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { readIsoTime } from '../../platform/iso-time.ts'
import { readDuration } from './duration.ts'

/** The time that counts for schedules, retries, expiry and retention. */
export interface ServiceTime {
  readonly now: Date
  /** Seconds by which it is ahead of the world's. */
  readonly ahead: number
  /** How many times as fast as the world's it goes. */
  readonly speed: number
}

/** One of them. */
export interface TimeChange {
  /** A duration such as 4h. */
  readonly advance?: string | undefined
  /** ISO 8601, or `real` for the world's time. */
  readonly to?: string | undefined
  readonly speed?: number | undefined
}

export interface ServiceTimeDependencies {
  readonly sql: Sql
  readonly config: Config
  /** Reads the clock into this process. */
  readonly check: () => Promise<unknown>
  /** Moves the times of sessions by as many milliseconds: people stay logged in. */
  readonly moveSessions: (sql: SqlTransaction, milliseconds: number) => Promise<void>
}

const MAX_YEARS = 20
const MAX_MS = MAX_YEARS * 366 * 86_400_000
/** Milliseconds after which every process has read the time, which it does each second. */
const SEEN_MS = 1500
/** Row of the table `instance`: since when. */
const LEAVES = 'mail leaves'
const NAMES = ['advance', 'to', 'speed'] as const

export interface ServiceTimes {
  show(): Promise<ServiceTime>
  /**
   * Moves the service's time in a sandbox, and returns when all processes have it. It does not go back behind the newest message or event.
   *
   * Throws parameterInvalid (advance, to, speed, delivery), or notReady while another statement holds the tables of mail.
   */
  move(change: TimeChange, by?: Actor): Promise<ServiceTime>
  /**
   * Notes that mail leaves from this database, if this process is to deliver it. From then on its clock is never moved, also not by a command whose
   * environment lacks DELIVERY: that would expire mail of the world, and delete what is kept of it. Throws notReady if it is moved.
   */
  noteDelivery(): Promise<void>
}

export function createServiceTimes(dependencies: ServiceTimeDependencies): ServiceTimes {
  return {
    show: async () => timeOf(await readMovedClock(dependencies.sql)),
    move: (change, by = OPERATOR) => moveAll(dependencies, change, by),
    noteDelivery: async () => {
      const { sql, config } = dependencies
      if (config.delivery.kind === 'sandbox') return
      await sql.begin(async (transaction) => {
        // A move at this moment is either over, and seen here, or waits and then sees the mark.
        await lockClock(transaction)
        if ((await readMovedClock(transaction)).moved)
          throw new ServiceError('notReady', { reason: 'the clock was moved' })
        await transaction`
          insert into instance (name, value) values (${LEAVES}, service_now()::text) on conflict do nothing`
      })
    },
  }
}

async function moveAll(dependencies: ServiceTimeDependencies, change: TimeChange, by: Actor): Promise<ServiceTime> {
  const { sql, config, check } = dependencies
  if (config.delivery.kind !== 'sandbox')
    throw invalidParameter('delivery', 'is not sandbox: the clock is moved only where no mail leaves')
  const given = NAMES.filter((name) => change[name] !== undefined)
  if (given.length !== 1)
    throw invalidParameter(given[1] ?? 'advance', 'exactly one of advance, to and speed must be given')
  const moved = await sql
    .begin((transaction) => move(transaction, dependencies, { change, by }))
    .catch((error: unknown) => {
      // A long reader, such as a backup, holds tables that need a partition. Mail that is accepted would wait behind this.
      throw isLockTimeout(error) ? new ServiceError('notReady') : error
    })
  await check()
  await new Promise((resolve) => setTimeout(resolve, SEEN_MS))
  return timeOf(moved)
}

async function move(
  sql: SqlTransaction,
  { moveSessions }: ServiceTimeDependencies,
  { change, by }: { readonly change: TimeChange; readonly by: Actor },
): Promise<ClockReading> {
  await lockClock(sql)
  const leaves = await sql`select from instance where name = ${LEAVES}`
  if (leaves.count > 0)
    throw invalidParameter(
      'delivery',
      'was not sandbox before: mail has left from this database, so its clock is not moved',
    )
  const before = await readMovedClock(sql)
  const { world, now } = before
  const speed = change.speed ?? before.moved?.speed ?? 1
  if (!Number.isInteger(speed) || speed < SPEED.least || speed > SPEED.most)
    throw invalidParameter('speed', `must be a whole number from ${SPEED.least} to ${SPEED.most}`)
  const at = targetOf(change, { now, world })
  // A clock that has gone fast for long can still be slowed down.
  if (change.speed === undefined && Math.abs(at - world) > MAX_MS)
    throw invalidParameter(change.to === undefined ? 'advance' : 'to', `must be within ${MAX_YEARS} years`)
  if (at < now) await requireNothingAfter(sql, at)
  const isReal = change.to === REAL || (speed === 1 && at === world)
  const moved: MovedClock | undefined = isReal ? undefined : { from: world, at, speed }
  await ensurePartitionsIn(sql, new Date(at))
  await defineClock(sql, moved)
  await moveSessions(sql, at - now)
  const after = { world, now: at, moved }
  const changed = { before: valuesOf(before), after: valuesOf(after) }
  await noteOperatorChange(sql, { accountId: null, by, action: 'clock.move', object: 'clock', ...changed })
  return after
}

const REAL = 'real'

/** Milliseconds since 1970. */
function targetOf(
  { advance, to }: TimeChange,
  { now, world }: { readonly now: number; readonly world: number },
): number {
  if (advance !== undefined) return now + readDuration('advance', advance) * 1000
  if (to === undefined) return now
  if (to === REAL) return world
  const time = readIsoTime(to)
  if (!time) throw invalidParameter('to', 'must be an ISO 8601 time like 2030-01-31T12:00:00Z, or "real"')
  return time.getTime()
}

/** Ids and partitions follow the time, and readers of events go forward in it. */
async function requireNothingAfter(sql: SqlTransaction, at: number): Promise<void> {
  const { newest } = onlyRow(
    await sql<{ newest: Date | null }[]>`
      select greatest((select max(occurred_at) from events), (select max(accepted_at) from messages)) as newest`,
  )
  if (newest && newest.getTime() > at)
    throw invalidParameter('to', `must not be before ${newest.toISOString()}, when the newest message or event was`)
}

function timeOf({ world, now, moved }: ClockReading): ServiceTime {
  return { now: new Date(now), ahead: Math.round((now - world) / 1000), speed: moved?.speed ?? 1 }
}

function valuesOf(reading: ClockReading) {
  const { now, speed } = timeOf(reading)
  return { now: now.toISOString(), speed }
}

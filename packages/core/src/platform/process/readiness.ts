import { availableParallelism, loadavg } from 'node:os'
import { timerDelay } from '../concurrency/timer-delay.ts'
import { answerWithin } from '../database/answer-within.ts'
import type { LockWatch } from '../database/commits/lock-watch.ts'
import { databaseErrorCode, onlyRow, type Sql } from '../database/database.ts'
import type { DatabaseClock } from '../database/database-clock.ts'
import { withDeadline } from '../database/deadlines.ts'
import { diskProbe } from '../database/disk-probe.ts'
import { clockColumn, movedClock } from '../database/moved-clock.ts'
import { type DatabaseFacts, factColumns, unmetReasons } from '../database/needs.ts'
import { targetOf } from '../database/replication/recovery-target.ts'
import { missingStandbys, readSyncStandby, type SyncStandby } from '../database/replication/replication.ts'
import { findStandbyHosts } from '../database/replication/standby-hosts.ts'
import { DURABILITY } from '../database/server-state.ts'
import type { Secrets } from '../security/secrets.ts'
import type { Log } from './log.ts'
import { schemaProblems } from './schema-problems.ts'

const AWAY = 'the database does not respond'
// Without the address: anyone may ask an API process whether it is ready.
const STANDBY_RESPONDS =
  'a host of DATABASE_URL responds, but is a standby: if the primary is lost and nothing promotes the standby, promote it (docs/runbooks.md#failover)'
const STANDBY =
  'the database is a standby, which stores no mail: set DATABASE_URL to the primary, or list all hosts and add target_session_attrs=primary'
const HIDDEN_STANDBY =
  'the role of DATABASE_URL does not see whether a standby is synchronous (REQUIRE_SYNC_STANDBY): as a superuser, GRANT pg_read_all_stats TO the role'
const MOVED =
  'the clock of this database was moved (postrider clock), as only a sandbox may: use DELIVERY=sandbox, or another database for mail that leaves'
/** Milliseconds by which the host's clock may differ from the database's without a warning. */
const CLOCK_TOLERANCE = 60_000
/**
 * Milliseconds after which an unresponsive database counts as unavailable; longer at first, while connections are being
 * opened, and on a busy host, but less than the deadline after which a silent connection is replaced.
 */
const PATIENCE = { first: 5000, later: 1750, busy: 4000 } as const
/** Milliseconds between two queries of a database that does not respond at the start of a process. */
const ASK_AGAIN = 500
/** Milliseconds in which the log says only once that the database was away: those who find it out do so within their next statements. */
const SAID_MS = 30_000
/** Programs per processor that want to run from which on a response takes longer without the database being away. */
const BUSY_LOAD = 2

export interface Readiness {
  readonly ready: boolean
  /** Reasons for not being ready, for the operator. */
  readonly reasons: readonly string[]
  /** Work that is not done although the process is ready, for the operator. */
  readonly notes?: readonly string[]
}

export interface ReadinessWatch {
  current(): Readiness
  /** Queries the database now. */
  check(): Promise<Readiness>
  /**
   * Resolves once the database has answered, whether the process is ready then or not. To be awaited before a process says that it has started: the
   * one that it replaces ends then.
   */
  untilAnswered(): Promise<void>
  /** Reports that the database returned a "disk full" error. */
  noteFull(): void
  /**
   * A statement found the database away. Checks at once, so that the log says it, once for all who note it: that the process is not ready, or that the
   * database was away for a moment.
   */
  noteAway(): void
  /** Milliseconds since the pool last received a response, whatever other connections this process has. */
  sinceAnswer(): number
  close(): void
}

export interface ReadinessOptions {
  /** The pool that serves mail: a dedicated connection would not show its state. */
  readonly sql: Sql
  readonly log: Log
  readonly secrets: Secrets
  readonly clock: DatabaseClock
  readonly allowUnsafeDatabase: boolean
  readonly requireSyncStandby?: boolean
  /** Default false. */
  readonly mayMoveClock?: boolean
  /** See lock-watch.ts. */
  readonly storeProblem?: LockWatch['problem']
  /** Returns {@link Readiness.notes}. */
  readonly notes?: () => readonly string[]
  /** Milliseconds between two checks; default 1000. */
  readonly every?: number
  /** Programs per processor that want to run, on average of the last minute; default that of this host. */
  readonly load?: () => number
}

/**
 * Monitors whether this process can accept mail: the database responds, is a primary, is durable, has free space, and has this
 * version's schema. Not ready until the first check has succeeded; not ready within 3 s after the database stops
 * responding, or 6 s on a host that has more work than it can do: there, a statement takes seconds, and mail that is accepted slowly is better than refused.
 */
export function watchReadiness(options: ReadinessOptions): ReadinessWatch {
  const {
    log,
    secrets,
    clock,
    allowUnsafeDatabase,
    requireSyncStandby = false,
    mayMoveClock = false,
    notes,
    storeProblem = async () => undefined,
    every = 1000,
    load = hostLoad,
  } = options
  const sql = withDeadline(options.sql, 'mail')
  const disk = diskProbe(sql, clock.monotonic)
  let state: Readiness = { ready: false, reasons: ['the database has not been checked yet'] }
  let checking: Promise<Readiness> | undefined
  let answeredAt = clock.monotonic()
  let everReady = false
  let wasChecked = false
  let standbyResponds = false
  let looking = false
  let saidAt = Number.NEGATIVE_INFINITY
  let isNoting = false
  const compareClocks = clockComparison(log)
  const timer = setInterval(() => void (checking ?? check()), timerDelay(every))
  timer.unref()

  function check(): Promise<Readiness> {
    const thisCheck = (checking ?? Promise.resolve()).then(runCheck).finally(() => {
      if (checking === thisCheck) checking = undefined
    })
    checking = thisCheck
    return thisCheck
  }

  async function runCheck(): Promise<Readiness> {
    const problemsSoon = () => answerWithin(problems(), everReady ? patienceAt(load()) : PATIENCE.first, options.sql)
    const reasons = await problemsSoon()
      // One connection was dead and has been dropped; others may still respond.
      .catch((error: unknown) =>
        databaseErrorCode(error) === 'CONNECTION_SILENT' ? problemsSoon() : Promise.reject(error),
      )
      .catch(() => {
        void lookForStandby()
        return standbyResponds ? [AWAY, STANDBY_RESPONDS] : [AWAY]
      })
    everReady ||= reasons.length === 0
    const changed = reasons.join() !== state.reasons.join()
    state = { ready: reasons.length === 0, reasons }
    if (changed && !state.ready) log.error({ reasons }, 'not ready')
    // At its start, the process says "started" when it listens.
    if (changed && state.ready && wasChecked) log.info('ready')
    if (changed) saidAt = clock.monotonic()
    wasChecked = true
    return state
  }

  /** Runs next to the checks, which must end in time. */
  async function lookForStandby(): Promise<void> {
    if (looking) return
    looking = true
    const hosts = await findStandbyHosts(options.sql).catch(() => [])
    standbyResponds = hosts.length > 0
    looking = false
  }

  async function problems(): Promise<string[]> {
    const asked = clock.monotonic()
    const {
      now,
      clock: source,
      off,
      target,
      ...facts
    } = onlyRow(
      await sql<(DatabaseFacts & { now: number; clock: string | null; off: string[]; target: string })[]>`
        select (extract(epoch from clock_timestamp()) * 1000)::float8 as now, ${clockColumn(sql)}, ${targetOf(sql)} as target, ${factColumns(sql)},
               array(select name from unnest(${[...DURABILITY]}::text[]) name where current_setting(name) = 'off') as off`,
    )
    answeredAt = clock.monotonic()
    standbyResponds = false
    const moved = movedClock({ clock: source })
    compareClocks(clock.set({ asked, answered: answeredAt, database: now, moved }))
    // It reads like a primary, but stores nothing.
    if (facts.isStandby) return [STANDBY]
    return [
      ...unmetReasons(facts),
      ...(moved && !mayMoveClock ? [MOVED] : []),
      ...(allowUnsafeDatabase ? [] : off.map(unsafe)),
      ...(requireSyncStandby ? standbyProblems(await readSyncStandby(sql)) : []),
      ...(await schemaProblems(sql, secrets, target)),
      ...[await storeProblem(sql)].filter((one) => one !== undefined),
      ...(disk.hasRoom() ? [] : ['the disk of the database is full, so mail cannot be stored: free some space']),
    ]
  }

  return {
    current() {
      const noted = notes?.() ?? []
      return noted.length === 0 ? state : { ...state, notes: noted }
    },
    check,
    async untilAnswered() {
      while ((await check()).reasons.includes(AWAY)) await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN))
    },
    noteFull() {
      disk.suspect()
      void (checking ?? check())
    },
    noteAway() {
      if (isNoting) return
      isNoting = true
      void check().then(({ ready }) => {
        isNoting = false
        if (!ready || clock.monotonic() - saidAt < SAID_MS) return
        saidAt = clock.monotonic()
        log.warn('the database was away for a moment')
      })
    },
    sinceAnswer: () => clock.monotonic() - answeredAt,
    close: () => clearInterval(timer),
  }
}

/** 0 where the system does not tell. */
const hostLoad = (): number => (loadavg()[0] ?? 0) / availableParallelism()

function patienceAt(load: number): number {
  return Math.min(PATIENCE.busy, PATIENCE.later * Math.max(1, load - BUSY_LOAD + 1))
}

/**
 * Returns a function that warns if the host's clock is off. That stops no mail, since messages are dated by the
 * database, but certificates and signatures use the host's clock.
 */
function clockComparison(log: Log): (ahead: number) => void {
  let clockIsOff = false
  return (ahead) => {
    const seconds = Math.round(ahead / 1000)
    const off = Math.abs(ahead) > CLOCK_TOLERANCE
    if (off && !clockIsOff) log.warn({ seconds }, "the clock of this host differs from the database's; correct it")
    clockIsOff = off
  }
}

function unsafe(name: string): string {
  return `the database has ${name} = off, so accepted mail could be lost: turn it on (ALLOW_UNSAFE_DATABASE=1 is for tests only)`
}

/**
 * Why no mail is accepted with REQUIRE_SYNC_STANDBY. A commit waits for a synchronous standby only with synchronous_commit on or
 * remote_apply: remote_write survives no crash of both.
 */
export function standbyProblems(standby: SyncStandby): string[] {
  const { level, connected, isConnected, isHidden } = standby
  if (level !== 'on' && level !== 'remote_apply')
    return [
      `the database has synchronous_commit = ${level}, so commits do not wait for a standby (REQUIRE_SYNC_STANDBY): set it to on`,
    ]
  if (isConnected) return []
  if (isHidden) return [HIDDEN_STANDBY]
  return [
    connected === 0
      ? `${missingStandbys(standby)}, so accepted mail would be on one server only (REQUIRE_SYNC_STANDBY): connect one, and name it in ` +
        `synchronous_standby_names`
      : `${missingStandbys(standby)}, so mail cannot be stored (REQUIRE_SYNC_STANDBY): connect another one, or lower the number in synchronous_standby_names`,
  ]
}

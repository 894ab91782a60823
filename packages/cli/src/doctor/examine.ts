import { commandLines, timerDelay } from '@postrider/core'
import type { Check } from './check.ts'
import { type Area, NotChecked, type Stages, type Status } from './check-result.ts'
import type { Readings } from './readings.ts'

export interface CheckResult {
  readonly area: Area
  readonly name: string
  readonly status: Status
  readonly detail: string
  readonly fix: string | null
  readonly stages?: Stages
}

export interface Unchecked {
  readonly area: Area
  readonly name: string
  readonly reason: string
}

export interface Examination {
  readonly checks: readonly CheckResult[]
  readonly notChecked: readonly Unchecked[]
}

const LIMIT_MS = 10_000
/** From this number on, checks without a response have one cause, which none of them names. */
const MANY = 3
const NO_RESPONSE = 'no response in time'

/** Makes the checks at the same time; none waits for another, and each ends in time. `onDone` is called after each one. */
export async function examine(
  checks: readonly Check[],
  readings: Readings,
  onDone: () => void = () => {},
): Promise<Examination> {
  const results = await Promise.all(checks.map((check) => make(check, readings).finally(onDone)))
  const found = results.flatMap((result) => (result !== undefined && 'status' in result ? [result] : []))
  const notChecked = results.flatMap((result) => (result !== undefined && 'reason' in result ? [result] : []))
  const silent = notChecked.filter(({ reason }) => reason === NO_RESPONSE)
  if (silent.length >= MANY) return { checks: [overload(silent.length), ...found], notChecked }
  return {
    checks: [...found, ...silent.map(({ area, name }) => failed(area, name, NO_RESPONSE))],
    notChecked: notChecked.filter(({ reason }) => reason !== NO_RESPONSE),
  }
}

/** A fix with its commands as they are typed: with the npm package in a folder, `postrider` is not in the PATH. */
function asTyped(fix: string): string {
  const { command } = commandLines()
  return command === 'npx postrider' ? fix.replaceAll(/(?<!npx )\bpostrider (?=[a-z])/g, `${command} `) : fix
}

async function make(check: Check, readings: Readings): Promise<CheckResult | Unchecked | undefined> {
  const { area, name, limitMs = LIMIT_MS } = check
  try {
    if (check.database) readings.sql()
    const result = await orNoResponse(check.run(readings), limitMs)
    return result && { area, name, ...result, fix: result.fix === undefined ? null : asTyped(result.fix) }
  } catch (error) {
    if (error instanceof NotChecked) return { area, name, reason: error.message }
    if (isNoResponse(error)) return { area, name, reason: NO_RESPONSE }
    const cause = check.database ? await causeOf(readings) : undefined
    const { message } = error as Error
    return cause === undefined
      ? failed(area, name, message || String(error))
      : { area, name, reason: `${cause}: ${message}` }
  }
}

function failed(area: Area, name: string, problem: string): CheckResult {
  return {
    area,
    name,
    status: 'bad',
    detail: `could not be checked: ${problem}`,
    fix: 'correct the other findings first, then run "postrider doctor" again',
  }
}

function overload(silent: number): CheckResult {
  return {
    area: 'database',
    name: 'overload',
    status: 'bad',
    detail: `this host or the database is overloaded: ${silent} checks had no response in ${LIMIT_MS / 1000} s`,
    fix: 'see what takes processors, memory or disk (top, iostat, pg_stat_activity), then run "postrider doctor" again',
  }
}

/** A check did not end in time. */
class NoResponse extends Error {}

/** The database may be the one that did not respond: to a connection, or to a statement (57014: the server itself ended it). */
function isNoResponse(error: unknown): boolean {
  const { code } = error as { code?: string }
  return error instanceof NoResponse || ['CONNECT_TIMEOUT', 'CONNECTION_SILENT', '57014'].includes(code ?? '')
}

/** A fault of the database, found by a check of its own, that makes others fail. */
async function causeOf({ server, schema }: Readings): Promise<string | undefined> {
  const state = await orNoResponse(server(), LIMIT_MS).catch(() => undefined)
  if (state?.isStandby) return 'the database is a standby'
  const migrations = await orNoResponse(schema(), LIMIT_MS).catch(() => undefined)
  return (migrations?.pending ?? []).length > 0 ? 'migrations are pending' : undefined
}

/** Throws NoResponse if the promise takes longer. */
async function orNoResponse<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoResponse(NO_RESPONSE)), timerDelay(limitMs))
  })
  promise.catch(() => {})
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer))
}

import type { Check } from './check.ts'
import { type Area, NotChecked, type Stages, type Status } from './finding.ts'
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

/** Makes the checks at the same time; none waits for another, and each ends in time. `onDone` is called after each one. */
export async function examine(
  checks: readonly Check[],
  readings: Readings,
  onDone: () => void = () => {},
): Promise<Examination> {
  const results = await Promise.all(checks.map((check) => make(check, readings).finally(onDone)))
  return {
    checks: results.flatMap((result) => (result !== undefined && 'status' in result ? [result] : [])),
    notChecked: results.flatMap((result) => (result !== undefined && 'reason' in result ? [result] : [])),
  }
}

async function make(check: Check, readings: Readings): Promise<CheckResult | Unchecked | undefined> {
  const { area, name, limitMs = LIMIT_MS } = check
  try {
    if (check.database) readings.sql()
    const finding = await within(check.run(readings), limitMs)
    return finding && { area, name, ...finding, fix: finding.fix ?? null }
  } catch (error) {
    if (error instanceof NotChecked) return { area, name, reason: error.message }
    const cause = check.database ? await causeOf(readings) : undefined
    if (cause !== undefined) return { area, name, reason: `${cause}: ${(error as Error).message}` }
    const detail = `could not be checked: ${(error as Error).message || String(error)}`
    return {
      area,
      name,
      status: 'bad',
      detail,
      fix: 'correct the other findings first, then run "postrider doctor" again',
    }
  }
}

/** A fault of the database, found by a check of its own, that makes others fail. */
async function causeOf({ server, schema }: Readings): Promise<string | undefined> {
  const state = await within(server(), LIMIT_MS).catch(() => undefined)
  if (state?.isStandby) return 'the database is a standby'
  const migrations = await within(schema(), LIMIT_MS).catch(() => undefined)
  return (migrations?.pending ?? []).length > 0 ? 'migrations are pending' : undefined
}

async function within<T>(promise: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${limitMs / 1000} s`)), limitMs)
  })
  promise.catch(() => {})
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer))
}

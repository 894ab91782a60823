import type { Area, CheckResult } from './check-result.ts'
import type { Readings } from './readings.ts'

export interface Check {
  readonly name: string
  readonly area: Area
  /** Whether it reads the database, and is not made without one. */
  readonly database?: boolean
  /** Milliseconds after which it is given up; default 10,000. */
  readonly limitMs?: number
  /**
   * Returns undefined if the check does not apply to this installation. Throws {@link NotChecked} if it cannot be made; any other error
   * is a result of its own.
   */
  run(readings: Readings): Promise<CheckResult | undefined>
}

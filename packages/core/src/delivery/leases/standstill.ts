/** Why a worker lost its lease. */
export type LostLease = 'taken' | 'hung' | 'silent'

/** Positions of the main loop's counters in shared memory: its own rounds, and the statements that the database completed. */
export const COUNTERS = { rounds: 0, statements: 1 } as const

export interface StandstillTimes {
  /** Milliseconds between two heartbeats, each followed by a check. */
  readonly beatEvery: number
  /** Milliseconds without a round of the main loop after which the worker is hung. */
  readonly hungAfter: number
  /** Milliseconds without a completed statement, while heartbeats succeed, after which the worker's connections are broken. */
  readonly silentAfter: number
}

/**
 * Detects, outside the main loop, that a worker makes no progress. It counts checks rather than reading a clock, so that time
 * during which the host slept or the process was stopped does not count as a standstill.
 */
export class Standstill {
  readonly #counters: Int32Array
  readonly #times: StandstillTimes
  #rounds = -1
  #statements = -1
  #still = 0
  #silent = 0

  constructor(counters: Int32Array, times: StandstillTimes) {
    this.#counters = counters
    this.#times = times
  }

  /** Checks the counters. To be called after each heartbeat; `succeeded` is whether the heartbeat did. */
  look(succeeded: boolean): LostLease | undefined {
    const { beatEvery, hungAfter, silentAfter } = this.#times
    const rounds = Atomics.load(this.#counters, COUNTERS.rounds)
    const statements = Atomics.load(this.#counters, COUNTERS.statements)
    const advanced = rounds !== this.#rounds
    // If the heartbeat failed too, the database is unavailable rather than the worker's connections broken. Failed heartbeats
    // also follow each other faster than `beatEvery`, so they are not counted.
    if (statements !== this.#statements) this.#silent = 0
    else if (advanced && succeeded) this.#silent++
    if (advanced) this.#still = 0
    else if (succeeded) this.#still++
    this.#rounds = rounds
    this.#statements = statements
    if (this.#still * beatEvery >= hungAfter) return 'hung'
    return this.#silent * beatEvery >= silentAfter ? 'silent' : undefined
  }
}

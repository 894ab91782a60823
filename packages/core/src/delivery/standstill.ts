/** Why a worker has no right to its lease any more. */
export type LostLease = 'taken' | 'hung' | 'silent'

/** Where the main loop counts, in shared memory: its own rounds, and what the database has answered to it. */
export const COUNTERS = { rounds: 0, answers: 1 } as const

export interface StandstillTimes {
  /** Milliseconds between two beats, each with a look. */
  readonly beatEvery: number
  /** After this long without a round of the main loop the worker hangs. */
  readonly hungAfter: number
  /** After this long without an answer to it, while the beats are answered, its connections are silent. */
  readonly silentAfter: number
}

/**
 * Judges whether a worker's work goes on, beside its main loop. Counted in looks and not by a clock: a host that slept, or a
 * process that was stopped and goes on, has not stood still for longer than it ran.
 */
export class Standstill {
  readonly #counters: Int32Array
  readonly #times: StandstillTimes
  #rounds = -1
  #answers = -1
  #still = 0
  #silent = 0

  constructor(counters: Int32Array, times: StandstillTimes) {
    this.#counters = counters
    this.#times = times
  }

  /** To be called after each beat. `answered`: the database answered it. */
  look(answered: boolean): LostLease | undefined {
    const { beatEvery, hungAfter, silentAfter } = this.#times
    const rounds = Atomics.load(this.#counters, COUNTERS.rounds)
    const answers = Atomics.load(this.#counters, COUNTERS.answers)
    const goesOn = rounds !== this.#rounds
    // A database that does not answer us either says nothing about the others, and beats that fail come in quick succession.
    if (answers !== this.#answers) this.#silent = 0
    else if (goesOn && answered) this.#silent++
    if (goesOn) this.#still = 0
    else if (answered) this.#still++
    this.#rounds = rounds
    this.#answers = answers
    if (this.#still * beatEvery >= hungAfter) return 'hung'
    return this.#silent * beatEvery >= silentAfter ? 'silent' : undefined
  }
}

import type { Allowance, MessageRate, Rate, Standing } from '@postrider/core'

/** Lengths of the windows in which messages are counted, in seconds: short ones spread the mail. */
const WINDOWS = [10, 60, 600, 3600] as const
/** Messages per window from which rounding down costs less than a tenth. */
const ENOUGH = 10
/** Milliseconds until another attempt if the database is away. */
const RETRY_MS = 1000
/** Milliseconds after which a rate that was used up is tried again, however long its window is. */
const MAX_CLOSED_MS = { rate: 60_000, 'warm-up': 5000 } as const

/** Takes one message from rates that all workers share. */
export type TakeFromRates = (rates: readonly Rate[]) => Promise<Allowance>

/** The rates of a destination: that of the provider, the allowances of a source that is warmed up, and the daily limit of a smart host. */
export interface DestinationRates {
  readonly rate: MessageRate | undefined
  readonly warmUp: readonly Rate[]
  readonly perDay: readonly Rate[]
}

export interface RateGateOptions {
  readonly destination: string
  readonly takeFromRates: TakeFromRates
  /** Called when it is known whether a message may pass. */
  readonly onAnswer: () => void
  /** Called when the allowance of a source is used up, with the seconds until there is more. */
  readonly onSpent: (seconds: number) => void
}

/** Lets as many messages pass as the rates of a destination allow all workers together. */
export class RateGate {
  readonly #destination: string
  readonly #take: TakeFromRates
  readonly #onAnswer: () => void
  readonly #onSpent: (seconds: number) => void
  #rates: readonly Rate[] = []
  #warmUp: readonly Rate[] = []
  /** For one message, which may pass now. */
  #allowance: Allowance | undefined
  #asking = false
  #closedUntil = 0
  #closedBy: 'rate' | 'warm-up' = 'rate'

  constructor({ destination, takeFromRates, onAnswer, onSpent }: RateGateOptions) {
    this.#destination = destination
    this.#take = takeFromRates
    this.#onAnswer = onAnswer
    this.#onSpent = onSpent
  }

  set rates({ rate, warmUp, perDay }: DestinationRates) {
    const next = [...warmUp, ...perDay, ...(rate ? [windowOf(this.#destination, rate)] : [])]
    this.#warmUp = warmUp
    // The limits are set when the sources have changed, and with them what is left of their allowances.
    if (this.#closedBy === 'warm-up') this.#closedUntil = 0
    const isSame = next.every(
      ({ name, limit }, at) => name === this.#rates[at]?.name && limit === this.#rates[at]?.limit,
    )
    if (isSame && next.length === this.#rates.length) return
    this.#rates = next
    this.pass()?.giveBack()
    this.#closedUntil = 0
  }

  /** Which of the rates is used up, so that no message passes for some time; undefined if none is. */
  get closedBy(): 'rate' | 'warm-up' | undefined {
    return this.#rates.length > 0 && performance.now() < this.#closedUntil ? this.#closedBy : undefined
  }

  get hasRate(): boolean {
    return this.#rates.length > 0
  }

  /** Whether a message may pass; if not, a pass is requested. */
  isOpen(): boolean {
    if (this.#rates.length === 0 || this.#allowance) return true
    if (!this.#asking && !this.closedBy) void this.#ask(this.#rates)
    return false
  }

  /** Lets a message pass. Returns what it uses, to be given back if it is not offered; undefined if there is no rate. */
  pass(): Allowance | undefined {
    const allowance = this.#allowance
    this.#allowance = undefined
    return allowance
  }

  async #ask(rates: readonly Rate[]): Promise<void> {
    this.#asking = true
    try {
      const allowance = await this.#take(rates)
      if (this.#rates !== rates) allowance.giveBack()
      else if (allowance.standing.refused) this.#close(allowance.standing)
      else this.#allowance = allowance
    } catch {
      this.#closedUntil = performance.now() + RETRY_MS
    }
    this.#asking = false
    this.#onAnswer()
  }

  #close({ rate, retryAfter }: Standing): void {
    const isWarmUp = this.#warmUp.some(({ name }) => name === rate.name)
    this.#closedBy = isWarmUp ? 'warm-up' : 'rate'
    this.#closedUntil = performance.now() + Math.min(retryAfter * 1000, MAX_CLOSED_MS[this.#closedBy])
    if (isWarmUp) this.#onSpent(retryAfter)
  }
}

/** The window in which a rate is counted. Each has a name of its own, since they begin at the same times. */
export function windowOf(destination: string, { messages, seconds }: MessageRate): Rate {
  const per = (window: number): number => (messages * window) / seconds
  const window = WINDOWS.find((one) => per(one) >= ENOUGH || (per(one) >= 1 && Number.isInteger(per(one)))) ?? 3600
  return {
    name: `place ${window} ${destination}`,
    what: 'messages to a provider',
    limit: Math.max(1, Math.floor(per(window))),
    seconds: window,
  }
}

import type { MessageRate, Rate, Standing } from '@postrider/core'

/** Lengths of the windows in which messages are counted, in seconds: short ones spread the mail. */
const WINDOWS = [10, 60, 600, 3600] as const
/** Messages per window from which rounding down costs less than a tenth. */
const ENOUGH = 10
/** Milliseconds until another attempt if the database is away. */
const RETRY_MS = 1000

/** Takes one message from a rate that all workers share. */
export type TakeFromRate = (rate: Rate) => Promise<Standing>

/** Lets as many messages pass as the rate of a place allows all workers together. */
export class RateGate {
  readonly #place: string
  readonly #take: TakeFromRate
  readonly #onAnswer: () => void
  #rate: Rate | undefined
  /** Messages that may pass now. */
  #passes = 0
  #asking = false
  #closedUntil = 0

  constructor(place: string, take: TakeFromRate, onAnswer: () => void) {
    this.#place = place
    this.#take = take
    this.#onAnswer = onAnswer
  }

  set rate(rate: MessageRate | undefined) {
    const next = rate && windowOf(this.#place, rate)
    if (next?.limit === this.#rate?.limit && next?.seconds === this.#rate?.seconds) return
    this.#rate = next
    this.#passes = 0
    this.#closedUntil = 0
  }

  /** The rate is used up, and no message passes for some time. */
  get isClosed(): boolean {
    return this.#rate !== undefined && performance.now() < this.#closedUntil
  }

  get hasRate(): boolean {
    return this.#rate !== undefined
  }

  /** Whether a message may pass; if not, a pass is requested. */
  isOpen(): boolean {
    if (!this.#rate || this.#passes > 0) return true
    if (!this.#asking && !this.isClosed) void this.#ask(this.#rate)
    return false
  }

  pass(): void {
    if (this.#rate) this.#passes--
  }

  async #ask(rate: Rate): Promise<void> {
    this.#asking = true
    try {
      const { refused, retryAfter } = await this.#take(rate)
      if (this.#rate === rate && refused) this.#closedUntil = performance.now() + retryAfter * 1000
      if (this.#rate === rate && !refused) this.#passes = 1
    } catch {
      this.#closedUntil = performance.now() + RETRY_MS
    }
    this.#asking = false
    this.#onAnswer()
  }
}

/** The window in which a rate is counted. Each has a name of its own, since they begin at the same times. */
function windowOf(place: string, { messages, seconds }: MessageRate): Rate {
  const per = (window: number): number => (messages * window) / seconds
  const window = WINDOWS.find((one) => per(one) >= ENOUGH || (per(one) >= 1 && Number.isInteger(per(one)))) ?? 3600
  return {
    name: `place ${window} ${place}`,
    what: 'messages to a provider',
    limit: Math.max(1, Math.floor(per(window))),
    seconds: window,
  }
}

import { hash } from 'node:crypto'
import type { Offers, RefusalMeaning, Reply } from '@postrider/core'

/** Milliseconds for which offers are counted from the first refusal. */
const WINDOW_MS = 600_000
/** Refusals from which few messages are offered at once, while they are most. */
const SUSPECT_FROM = 3
/** Sending domains counted at a destination at once. */
const MAX_SENDERS = 1000
const MAX_RECIPIENTS = 20

interface Sender {
  readonly accountId: number
  readonly domainId: number
  readonly recipient: string
}

interface Refusal {
  readonly meaning: RefusalMeaning
  readonly reply: Reply
}

/** Offers that have not been counted in the database yet, with the latest refusal of them. */
export interface Taken extends Offers {
  readonly refusal: Refusal | undefined
}

type Counted = { -readonly [Key in keyof Taken]: Key extends 'recipients' ? Set<number> : Taken[Key] }

/** Counts of the messages that this worker offered to a destination, from the first one that was refused for its sender. */
export class RecentOffers {
  readonly #uncounted = new Map<string, Counted>()
  #since = Number.NEGATIVE_INFINITY
  #offered = 0
  #refused = 0

  /** Counts an offer. Most destinations refuse nothing, and nothing is counted there. */
  add(sender: Sender, refusal: Refusal | undefined): void {
    if (performance.now() - this.#since > WINDOW_MS) {
      if (this.#offered > 0) this.clear()
      if (refusal === undefined) return
      this.#since = performance.now()
    }
    const counted = this.#of(sender)
    if (!counted) return
    counted.offered++
    this.#offered++
    if (!refusal) return
    counted[refusal.meaning]++
    counted.refusal = refusal
    this.#refused++
    if (counted.recipients.size < MAX_RECIPIENTS)
      counted.recipients.add(hash('sha1', sender.recipient, 'buffer').readInt32BE(0))
  }

  #of({ accountId, domainId }: Sender): Counted | undefined {
    const key = `${accountId} ${domainId}`
    const known = this.#uncounted.get(key)
    if (known || this.#uncounted.size >= MAX_SENDERS) return known
    const counts = { offered: 0, service: 0, message: 0, authentication: 0, recipients: new Set<number>() }
    const counted = { accountId, domainId, ...counts, refusal: undefined }
    this.#uncounted.set(key, counted)
    return counted
  }

  /** Whether most are refused. */
  get isMost(): boolean {
    return 2 * this.#refused > this.#offered
  }

  /** Whether most are refused, and those are not the first ones only. */
  get isSuspect(): boolean {
    return this.#refused >= SUSPECT_FROM && this.isMost
  }

  /** Returns what has not been counted in the database yet. */
  take(): Taken[] {
    const taken = Array.from(this.#uncounted.values(), (one) => ({ ...one, recipients: [...one.recipients] }))
    this.#uncounted.clear()
    return taken
  }

  clear(): void {
    this.#uncounted.clear()
    this.#since = Number.NEGATIVE_INFINITY
    this.#offered = 0
    this.#refused = 0
  }
}

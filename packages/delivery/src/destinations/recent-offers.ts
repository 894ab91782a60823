import { hash } from 'node:crypto'
import { MAX_REFUSED_RECIPIENTS, type Offers, type RefusalMeaning, type Reply } from '@postrider/core'

/** Milliseconds for which offers are counted from the first refusal. */
const WINDOW_MS = 600_000
/** Refusals from which few messages are offered at once, while they are most. */
const SUSPECT_FROM = 3
/** Sending domains counted at a destination at once; if mail of one is refused, twice as many. */
const MAX_SENDERS = 1000
/** Refusals of an account, while mail of others is accepted, that are counted in the database together. */
const COUNTED_TOGETHER = 5
/** Sending domains of others that are counted with them, as a sign that the destination takes mail. */
const WITNESSES = 20

interface Sender {
  readonly accountId: number
  readonly domainId: number
  readonly recipient: string
}

interface Refusal {
  readonly meaning: RefusalMeaning
  readonly reply: Reply
}

interface OfAccount {
  offered: number
  refused: number
  /** Refusals that have not been counted in the database. */
  uncounted: number
  last: LastRefusal | undefined
}

/** The latest refusal of an account's mail. */
export interface LastRefusal extends Refusal {
  readonly domainId: number
}

type Counted = { -readonly [Key in keyof Offers]: Key extends 'recipients' ? Set<number> : Offers[Key] }

/** Counts of the messages that this worker offered to a destination, from the first one that was refused for its sender. */
export class RecentOffers {
  readonly #uncounted = new Map<string, Counted>()
  readonly #accounts = new Map<number, OfAccount>()
  #since = Number.NEGATIVE_INFINITY
  #offered = 0
  #refused = 0
  #last: LastRefusal | undefined

  /** Counts an offer. Most destinations refuse nothing, and nothing is counted there. */
  add(sender: Sender, refusal: Refusal | undefined): void {
    if (performance.now() - this.#since > WINDOW_MS) {
      if (this.#offered > 0) this.clear()
      if (refusal === undefined) return
      this.#since = performance.now()
    }
    const counted = this.#of(sender, refusal ? 2 * MAX_SENDERS : MAX_SENDERS)
    if (!counted) return
    const account = this.#accounts.get(sender.accountId) ?? { offered: 0, refused: 0, uncounted: 0, last: undefined }
    this.#accounts.set(sender.accountId, account)
    counted.offered++
    account.offered++
    this.#offered++
    if (!refusal) return
    account.refused++
    account.uncounted++
    counted[refusal.meaning]++
    account.last = { ...refusal, domainId: sender.domainId }
    this.#last = account.last
    this.#refused++
    if (counted.recipients.size < MAX_REFUSED_RECIPIENTS)
      counted.recipients.add(hash('sha1', sender.recipient, 'buffer').readInt32BE(0))
  }

  #of({ accountId, domainId }: Sender, most: number): Counted | undefined {
    const key = `${accountId} ${domainId}`
    const known = this.#uncounted.get(key)
    if (known || this.#uncounted.size >= most) return known
    const counts = { offered: 0, service: 0, message: 0, authentication: 0, recipients: new Set<number>() }
    const counted = { accountId, domainId, ...counts }
    this.#uncounted.set(key, counted)
    return counted
  }

  /** Whether a message was refused for its sender not long ago. */
  get isCounting(): boolean {
    return this.#offered > 0
  }

  /** Whether most are refused. */
  get isMost(): boolean {
    return 2 * this.#refused > this.#offered
  }

  /** Whether most of an account are refused, and enough of them have not been counted in the database. */
  isDue(accountId: number): boolean {
    const { offered = 0, refused = 0, uncounted = 0 } = this.#accounts.get(accountId) ?? {}
    return uncounted >= COUNTED_TOGETHER && 2 * refused > offered
  }

  /** Whether most are refused, and those are not the first ones only. */
  get isSuspect(): boolean {
    return this.#refused >= SUSPECT_FROM && this.isMost
  }

  /** The latest refusal of mail of an account, or of any (null), that this worker has seen since the first one. */
  lastRefusal(accountId: number | null): LastRefusal | undefined {
    return accountId === null ? this.#last : this.#accounts.get(accountId)?.last
  }

  /** Returns what has not been counted in the database yet. */
  take(): Offers[] {
    return this.#taken([...this.#uncounted])
  }

  /** The same of one account, and of some others whose mail was accepted. */
  takeOf(accountId: number): Offers[] {
    const all = [...this.#uncounted]
    const own = all.filter(([, one]) => one.accountId === accountId)
    const others = all.filter(([, one]) => one.accountId !== accountId && one.recipients.size === 0)
    return this.#taken([...own, ...others.slice(0, WITNESSES)])
  }

  #taken(entries: readonly (readonly [string, Counted])[]): Offers[] {
    return entries.map(([key, one]) => {
      this.#uncounted.delete(key)
      const account = this.#accounts.get(one.accountId)
      if (account) account.uncounted = 0
      return { ...one, recipients: [...one.recipients] }
    })
  }

  clear(): void {
    this.#uncounted.clear()
    this.#accounts.clear()
    this.#since = Number.NEGATIVE_INFINITY
    this.#offered = 0
    this.#refused = 0
    this.#last = undefined
  }
}

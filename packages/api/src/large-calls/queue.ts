/**
 * Maximum total weight of the calls in progress in addition to the heaviest one, which may take two thirds of the thread's
 * memory.
 */
const MAX_ADDED_WEIGHT = 16 * 1024 * 1024
/** Maximum number of calls in progress per account. They can share a commit, and other accounts wait for no more than these. */
const MAX_PER_ACCOUNT = 4
/** Milliseconds for which calls of an account run alone after the thread was lost with a call of that account in progress. */
const ALONE_MS = 10 * 60_000

export interface Waiting {
  readonly accountId: number
  /** See weigh.ts. */
  readonly weight: number
}

/**
 * Queue of large calls waiting for the thread. As many calls are in progress as capacity allows, and never two heavy ones. Next
 * comes the account with the fewest calls in progress and, among those, the one served longest ago. An account that sends many
 * calls thus delays the others by a few calls and not by all of its own.
 */
export class LargeCallQueue<Call extends Waiting> {
  readonly #waiting: Call[] = []
  readonly #inFlight = new Set<Call>()
  /** Accounts that were served, least recent first. */
  readonly #served = new Set<number>()
  readonly #aloneUntil = new Map<number, number>()
  readonly #now: () => number

  constructor(now = () => performance.now()) {
    this.#now = now
  }

  add(call: Call): void {
    this.#waiting.push(call)
  }

  /** Starts the next call and returns it; undefined if none is waiting or there is no capacity. */
  next(): Call | undefined {
    const held = new Map<number, number>()
    for (const { accountId } of this.#inFlight) held.set(accountId, (held.get(accountId) ?? 0) + 1)
    const accounts = [...new Set(this.#waiting.map(({ accountId }) => accountId))]
    const places = new Map([...this.#served].map((accountId, place) => [accountId, place]))
    const rank = (accountId: number): number => (held.get(accountId) ?? 0) * this.#ranks + (places.get(accountId) ?? -1)
    const [account] = accounts.sort((one, other) => rank(one) - rank(other))
    if (account === undefined || (held.get(account) ?? 0) >= MAX_PER_ACCOUNT) return undefined
    const at = this.#waiting.findIndex(({ accountId }) => accountId === account)
    const call = this.#waiting[at] as Call
    // Smaller calls do not overtake it; otherwise it could wait forever.
    if (!this.#hasRoom(call)) return undefined
    this.#waiting.splice(at, 1)
    this.#inFlight.add(call)
    this.#served.delete(account)
    this.#served.add(account)
    return call
  }

  done(call: Call): void {
    this.#inFlight.delete(call)
    // Nothing is waiting, so the order of service is irrelevant.
    if (this.#inFlight.size === 0 && this.#waiting.length === 0) this.#served.clear()
  }

  /** Removes and returns the calls in progress when the thread was lost. One of their accounts may have caused the loss. */
  lose(): Call[] {
    const lost = [...this.#inFlight]
    for (const call of lost) {
      this.done(call)
      this.#aloneUntil.set(call.accountId, this.#now() + ALONE_MS)
    }
    return lost
  }

  /** Removes and returns the waiting calls. */
  clear(): Call[] {
    return this.#waiting.splice(0)
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0
  }

  get inFlight(): ReadonlySet<Call> {
    return this.#inFlight
  }

  #hasRoom(call: Call): boolean {
    if (this.#inFlight.size === 0) return true
    const together = [...this.#inFlight, call]
    if (together.some(({ accountId }) => this.#goesAlone(accountId))) return false
    const weights = together.map(({ weight }) => weight)
    return weights.reduce((sum, weight) => sum + weight) - Math.max(...weights) <= MAX_ADDED_WEIGHT
  }

  /**
   * Running alone makes the next loss attributable to one call, which is then rejected permanently, and affects no other account.
   */
  #goesAlone(accountId: number): boolean {
    const until = this.#aloneUntil.get(accountId)
    if (until === undefined) return false
    if (this.#now() < until) return true
    this.#aloneUntil.delete(accountId)
    return false
  }

  /** A rank higher than that of any account served. */
  get #ranks(): number {
    return this.#served.size + 2
  }
}

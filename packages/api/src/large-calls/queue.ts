/** What the calls in hand may weigh beside the heaviest of them, which may take two thirds of the thread's memory. */
const BESIDE = 16 * 1024 * 1024
/** Calls of one account in hand at once: some share a commit, and whoever comes after them waits for no more. */
const OF_ONE = 4
/** Milliseconds for which the calls of an account go alone that had one in hand when the thread was lost. */
const ALONE = 10 * 60_000

export interface Waiting {
  readonly accountId: number
  /** See weigh.ts. */
  readonly weight: number
}

/**
 * Large calls on their way into the thread. As many are in hand as there is room for, and never two heavy ones. Next comes the
 * account with the fewest in hand, and of several the one that was served longest ago, so that one that sends many keeps the others
 * waiting for a few calls and not for all of its own.
 */
export class LargeCallQueue<Call extends Waiting> {
  readonly #waiting: Call[] = []
  readonly #inHand = new Set<Call>()
  /** Accounts that were served, the longest ago first. */
  readonly #served = new Set<number>()
  readonly #aloneUntil = new Map<number, number>()
  readonly #now: () => number

  constructor(now = () => performance.now()) {
    this.#now = now
  }

  add(call: Call): void {
    this.#waiting.push(call)
  }

  /** Takes the next one in hand; undefined: there is none, or no room. */
  next(): Call | undefined {
    const held = new Map<number, number>()
    for (const { accountId } of this.#inHand) held.set(accountId, (held.get(accountId) ?? 0) + 1)
    const accounts = [...new Set(this.#waiting.map(({ accountId }) => accountId))]
    const places = new Map([...this.#served].map((accountId, place) => [accountId, place]))
    const rank = (accountId: number): number => (held.get(accountId) ?? 0) * this.#ranks + (places.get(accountId) ?? -1)
    const [account] = accounts.sort((one, other) => rank(one) - rank(other))
    if (account === undefined || (held.get(account) ?? 0) >= OF_ONE) return undefined
    const at = this.#waiting.findIndex(({ accountId }) => accountId === account)
    const call = this.#waiting[at] as Call
    // Smaller ones do not overtake it: it would wait for ever.
    if (!this.#hasRoom(call)) return undefined
    this.#waiting.splice(at, 1)
    this.#inHand.add(call)
    this.#served.delete(account)
    this.#served.add(account)
    return call
  }

  done(call: Call): void {
    this.#inHand.delete(call)
    // Nobody waits: who was served before whom is of no account any more.
    if (this.#inHand.size === 0 && this.#waiting.length === 0) this.#served.clear()
  }

  /** Gives up what was in hand when the thread was lost, and answers it. One of these accounts may be what the thread was lost by. */
  lose(): Call[] {
    const lost = [...this.#inHand]
    for (const call of lost) {
      this.done(call)
      this.#aloneUntil.set(call.accountId, this.#now() + ALONE)
    }
    return lost
  }

  /** Gives up what waits, and answers it. */
  clear(): Call[] {
    return this.#waiting.splice(0)
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0
  }

  get inHand(): ReadonlySet<Call> {
    return this.#inHand
  }

  #hasRoom(call: Call): boolean {
    if (this.#inHand.size === 0) return true
    const together = [...this.#inHand, call]
    if (together.some(({ accountId }) => this.#goesAlone(accountId))) return false
    const weights = together.map(({ weight }) => weight)
    return weights.reduce((sum, weight) => sum + weight) - Math.max(...weights) <= BESIDE
  }

  /** So that the next loss is of one call, which is refused for good, and of nobody else's. */
  #goesAlone(accountId: number): boolean {
    const until = this.#aloneUntil.get(accountId)
    if (until === undefined) return false
    if (this.#now() < until) return true
    this.#aloneUntil.delete(accountId)
    return false
  }

  /** More than any place among those who were served. */
  get #ranks(): number {
    return this.#served.size + 2
  }
}

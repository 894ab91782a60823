/** Octets of the large calls that are in hand at once; one alone may have more. */
const TOGETHER = 32 * 1024 * 1024

export interface Waiting {
  readonly accountId: number
  readonly octets: number
}

/**
 * Large calls on their way into the thread. As many are in hand as there is room for, and next comes the account with the least
 * in hand, so that one that sends many keeps the others waiting for one call and not for all of its own.
 */
export class LargeCallQueue<Call extends Waiting> {
  readonly #waiting: Call[] = []
  readonly #inHand = new Set<Call>()

  add(call: Call): void {
    this.#waiting.push(call)
  }

  /** Takes the next one in hand; undefined: there is none, or no room. */
  next(): Call | undefined {
    const held = new Map<number, number>()
    let sum = 0
    for (const { accountId, octets } of this.#inHand) {
      held.set(accountId, (held.get(accountId) ?? 0) + octets)
      sum += octets
    }
    let best: Call | undefined
    for (const call of this.#waiting) {
      if (!best || (held.get(call.accountId) ?? 0) < (held.get(best.accountId) ?? 0)) best = call
    }
    if (!best || (sum > 0 && sum + best.octets > TOGETHER)) return undefined
    this.#waiting.splice(this.#waiting.indexOf(best), 1)
    this.#inHand.add(best)
    return best
  }

  done(call: Call): void {
    this.#inHand.delete(call)
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
}

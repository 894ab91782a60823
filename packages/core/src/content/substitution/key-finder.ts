/** Longest key that is looked for, in UTF-16 units; longer ones stay where they are. */
const LONGEST_KEY = 10_000

/**
 * Finds keys in texts: at each place the longest that begins there. An automaton (Aho and Corasick, 1975) over the keys written
 * backwards reads a text from its end and so knows at each place the longest key that begins there. Takes time with the lengths of
 * text and keys, however many there are and whatever they have in common, and some twenty octets for each unit of the keys: whoever
 * makes one bounds those first.
 *
 * States are numbered by their distance from the root, so that the ways on from one stand together, in the order of their units.
 */
export class KeyFinder {
  /** Units that keys end with, a bit each: nearly all of a text is passed over by a look here. */
  readonly #ends = new Uint32Array(2048)
  /** The unit a state is reached by. */
  readonly #units: Uint16Array
  /** The first state that is reached from a state; the last one stands before those of the next state. */
  readonly #ways: Int32Array
  /** Where a state goes on when its text does not. */
  readonly #fallback: Int32Array
  /** Length of the longest key that ends a state. */
  readonly #found: Uint16Array
  readonly #longest: number

  constructor(keys: Iterable<string>) {
    const sorted = backwards(keys)
    const states = sorted.reduce((sum, { length }) => sum + length, 1)
    this.#units = new Uint16Array(states)
    this.#ways = new Int32Array(states + 1)
    this.#fallback = new Int32Array(states)
    this.#found = new Uint16Array(states)
    this.#longest = sorted.reduce((most, { length }) => Math.max(most, length), 0)
    this.#build(sorted)
  }

  /**
   * Notes in `lengths`, for each place of the text from `start` to `end`, the length of the longest key that begins there, where none
   * as long is noted.
   */
  mark(text: string, start: number, end: number, lengths: Uint16Array): void {
    const [ends, found] = [this.#ends, this.#found]
    let state = 0
    for (let at = Math.min(text.length, end + this.#longest - 1) - 1; at >= start; at--) {
      const unit = text.charCodeAt(at)
      if (state === 0 && !isIn(ends, unit)) continue
      state = this.#step(state, unit)
      const length = found[state] as number
      if (at < end && length > (lengths[at - start] as number)) lengths[at - start] = length
    }
  }

  #step(from: number, unit: number): number {
    let state = from
    for (;;) {
      const next = this.#next(state, unit)
      if (next > 0 || state === 0) return next
      state = this.#fallback[state] as number
    }
  }

  /** 0: there is no way on. */
  #next(state: number, unit: number): number {
    const [units, ways] = [this.#units, this.#ways]
    let low = ways[state] as number
    let high = ways[state + 1] as number
    while (low < high) {
      const middle = (low + high) >>> 1
      const there = units[middle] as number
      if (there === unit) return middle
      if (there < unit) low = middle + 1
      else high = middle
    }
    return 0
  }

  /** Level by level: where a state falls back to is nearer to the root, and so is known. */
  #build(sorted: readonly string[]): void {
    // The keys that go through a state stand together.
    const from = new Int32Array(this.#units.length)
    const to = new Int32Array(this.#units.length)
    to[0] = sorted.length
    let count = 1
    for (let state = 0, depth = 0, level = 1; state < count; state++) {
      if (state === level) {
        depth++
        level = count
      }
      this.#ways[state] = count
      let at = from[state] as number
      const end = to[state] as number
      const ends = sorted[at]?.length === depth
      if (ends) at++
      this.#found[state] = ends ? depth : (this.#found[this.#fallback[state] as number] as number)
      while (at < end) {
        const unit = unitAt(sorted, at, depth)
        from[count] = at
        while (at < end && unitAt(sorted, at, depth) === unit) at++
        to[count] = at
        this.#units[count] = unit
        if (state === 0) this.#ends[unit >>> 5] = (this.#ends[unit >>> 5] as number) | (1 << (unit & 31))
        else this.#fallback[count] = this.#step(this.#fallback[state] as number, unit)
        count++
      }
      this.#ways[state + 1] = count
    }
  }
}

function isIn(set: Uint32Array, unit: number): boolean {
  return ((set[unit >>> 5] as number) & (1 << (unit & 31))) !== 0
}

function unitAt(keys: readonly string[], at: number, depth: number): number {
  return (keys[at] as string).charCodeAt(depth)
}

/** Each key once, its units from the last to the first, in the order of units. */
function backwards(keys: Iterable<string>): string[] {
  const all = new Set<string>()
  for (const key of keys) if (key !== '' && key.length <= LONGEST_KEY) all.add(key.split('').reverse().join(''))
  return [...all].sort()
}

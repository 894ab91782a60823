/** Maximum key length in UTF-16 units; longer keys are not replaced. */
const MAX_KEY_LENGTH = 10_000

/**
 * Finds keys in texts: at each position the longest key that begins there. An automaton (Aho and Corasick, 1975) over
 * the reversed keys reads the text from its end, and so knows at each position the longest key that begins there. Takes
 * time linear to the lengths of text and keys, whatever the number of keys and their common parts. Takes about twenty
 * bytes of memory per unit of the keys, so callers must limit the keys first.
 *
 * States are numbered by their distance from the root, so that the transitions of a state are contiguous and sorted
 * by unit.
 */
export class KeyFinder {
  /** Bit set of the last units of all keys; it skips nearly all of a text. */
  readonly #ends = new Uint32Array(2048)
  /** The unit of the transition to a state. */
  readonly #units: Uint16Array
  /** The first target state of each state's transitions; they end before the first target of the next state. */
  readonly #transitions: Int32Array
  /** The state to continue with if no transition matches. */
  readonly #fallback: Int32Array
  /** Length of the longest key that ends in a state. */
  readonly #found: Uint16Array
  readonly #longest: number

  constructor(keys: Iterable<string>) {
    const sorted = reversedKeys(keys)
    const states = sorted.reduce((sum, { length }) => sum + length, 1)
    this.#units = new Uint16Array(states)
    this.#transitions = new Int32Array(states + 1)
    this.#fallback = new Int32Array(states)
    this.#found = new Uint16Array(states)
    this.#longest = sorted.reduce((most, { length }) => Math.max(most, length), 0)
    this.#build(sorted)
  }

  /**
   * Sets `lengths`, for each position of the text from `start` to `end`, to the length of the longest key that begins
   * there, unless a longer one is already set.
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

  /** Returns the next state, or 0 if there is no transition. */
  #next(state: number, unit: number): number {
    const [units, transitions] = [this.#units, this.#transitions]
    let low = transitions[state] as number
    let high = transitions[state + 1] as number
    while (low < high) {
      const middle = (low + high) >>> 1
      const candidate = units[middle] as number
      if (candidate === unit) return middle
      if (candidate < unit) low = middle + 1
      else high = middle
    }
    return 0
  }

  /** Builds the automaton level by level: the fallback of a state is nearer to the root, so it is already known. */
  #build(sorted: readonly string[]): void {
    // The keys that pass through a state are contiguous.
    const from = new Int32Array(this.#units.length)
    const to = new Int32Array(this.#units.length)
    to[0] = sorted.length
    let count = 1
    for (let state = 0, depth = 0, level = 1; state < count; state++) {
      if (state === level) {
        depth++
        level = count
      }
      this.#transitions[state] = count
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
      this.#transitions[state + 1] = count
    }
  }
}

function isIn(set: Uint32Array, unit: number): boolean {
  return ((set[unit >>> 5] as number) & (1 << (unit & 31))) !== 0
}

function unitAt(keys: readonly string[], at: number, depth: number): number {
  return (keys[at] as string).charCodeAt(depth)
}

/** Returns the distinct keys, reversed and sorted by unit. */
function reversedKeys(keys: Iterable<string>): string[] {
  const all = new Set<string>()
  for (const key of keys) if (key !== '' && key.length <= MAX_KEY_LENGTH) all.add(key.split('').reverse().join(''))
  return [...all].sort()
}

/** A text cut at the keys that stand in it: every second piece, from the first, is text; the others are keys. */
export type CutText = readonly string[]

/** Longest key that is looked for, in UTF-16 units; longer ones stay where they are. */
const LONGEST_KEY = 10_000
/** Units of text that are searched at a time. */
const STRETCH = 64 * 1024

/**
 * Finds keys in texts: from left to right, at each place the longest key that begins there, and nothing overlaps. An automaton
 * (Aho and Corasick, 1975) over the keys written backwards reads the text from its end and so knows at each place the longest
 * key that begins there. Takes time with the lengths of text and keys, however many there are and whatever they begin with.
 */
export class KeyFinder {
  readonly #next = new Map<number, number>()
  /** Units that keys end with: nearly all of a text is passed over by a look here. */
  readonly #ends = new Uint8Array(65_536)
  readonly #fallback: number[] = [0]
  /** Length of the longest key that ends a state. */
  readonly #found: number[] = [0]
  readonly #longest: number

  constructor(keys: Iterable<string>) {
    let longest = 0
    for (const key of keys) {
      if (key === '' || key.length > LONGEST_KEY) continue
      longest = Math.max(longest, key.length)
      this.#add(key)
    }
    this.#longest = longest
    this.#link()
  }

  cut(text: string): CutText {
    const pieces: string[] = []
    let from = 0
    if (this.#longest > 0) {
      const stretch = Math.max(STRETCH, 4 * this.#longest)
      for (let start = 0; start < text.length; start += stretch) {
        const lengths = this.#lengths(text, start, Math.min(text.length, start + stretch))
        for (const [offset, length] of lengths.entries()) {
          if (length === 0 || start + offset < from) continue
          pieces.push(text.slice(from, start + offset), text.slice(start + offset, start + offset + length))
          from = start + offset + length
        }
      }
    }
    pieces.push(text.slice(from))
    return pieces
  }

  /** For each place of a stretch the length of the longest key that begins there; 0 where none does. */
  #lengths(text: string, start: number, end: number): Uint16Array {
    const lengths = new Uint16Array(end - start)
    let state = 0
    for (let at = Math.min(text.length, end + this.#longest) - 1; at >= start; at--) {
      const unit = text.charCodeAt(at)
      if (state === 0 && this.#ends[unit] === 0) continue
      state = this.#step(state, unit)
      if (at < end) lengths[at - start] = this.#found[state] as number
    }
    return lengths
  }

  #step(from: number, unit: number): number {
    let state = from
    for (;;) {
      const next = this.#next.get(state * 65_536 + unit)
      if (next !== undefined) return next
      if (state === 0) return 0
      state = this.#fallback[state] as number
    }
  }

  #add(key: string): void {
    let state = 0
    for (let at = key.length - 1; at >= 0; at--) {
      const edge = state * 65_536 + key.charCodeAt(at)
      let next = this.#next.get(edge)
      if (next === undefined) {
        next = this.#found.length
        this.#next.set(edge, next)
        this.#found.push(0)
        this.#fallback.push(0)
      }
      state = next
    }
    this.#found[state] = key.length
    this.#ends[key.charCodeAt(key.length - 1)] = 1
  }

  /** Where a state goes on when its text does not: states nearer to the root first. */
  #link(): void {
    const after = new Map<number, [unit: number, state: number][]>()
    for (const [edge, state] of this.#next) {
      const from = Math.floor(edge / 65_536)
      const edges = after.get(from)
      if (edges) edges.push([edge % 65_536, state])
      else after.set(from, [[edge % 65_536, state]])
    }
    const order = [0]
    for (const from of order) {
      for (const [unit, state] of after.get(from) ?? []) {
        const fallback = from === 0 ? 0 : this.#step(this.#fallback[from] as number, unit)
        this.#fallback[state] = fallback
        this.#found[state] ||= this.#found[fallback] as number
        order.push(state)
      }
    }
  }
}

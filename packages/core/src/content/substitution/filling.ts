import type { Stoppable } from '../../platform/concurrency/turns.ts'
import { type CutText, MAX_PIECES } from './cut-texts.ts'
import type { KeyFinder } from './key-finder.ts'
import type { Sections, Substitutions } from './sections.ts'

/** The remaining budget of all texts of one copy. */
export interface FillingBudget {
  /** Characters that the texts may still have. */
  left: number
  /** Characters of values and sections that may still be searched without adding text. */
  idle: number
}

/** Maximum characters of all texts of one copy, the limit of a message. */
export const MAX_TOTAL_LENGTH = 30 * 1024 * 1024
/**
 * Empty nested sections add no text. Characters of them that may be searched, in addition to one for each character
 * that the text has grown.
 */
const MAX_IDLE = 64 * 1024
/** Cost of searching a value or section, in addition to its length. */
const OVERHEAD = 16
/** Maximum nesting of values and sections. */
const MAX_DEPTH = 4
/** UTF-16 units searched at a time. */
const CHUNK = 64 * 1024
/** Units searched and pieces joined between two checks of the clock; takes a few tenths of a millisecond. */
const STOP_AFTER = 16 * 1024
/**
 * Pieces joined at a time: V8 keeps a string built by repeated concatenation as a list of all its pieces until it is
 * read.
 */
const PIECES_PER_JOIN = 1024

export function createFillingBudget(): FillingBudget {
  return { left: MAX_TOTAL_LENGTH, idle: MAX_IDLE }
}

export interface FillingOptions {
  readonly values: Substitutions
  readonly sections: Sections
  readonly finder: KeyFinder
  readonly budget: FillingBudget
  /** Maximum characters of the resulting text. */
  readonly most: number
}

/** Fills in one text for one recipient. */
export class Filling {
  readonly #values: Substitutions
  readonly #sections: Sections
  readonly #finder: KeyFinder
  readonly #budget: FillingBudget
  readonly #most: number
  readonly #chunks: string[] = []
  /** Reusable buffers, one per depth, as long as the longest stretch so far. */
  readonly #lengths: Uint16Array[] = []
  #pieces: string[] = []
  #length = 0
  #idle = 0
  #work = 0
  #isOverLimit = false

  constructor({ values, sections, finder, budget, most }: FillingOptions) {
    this.#values = values
    this.#sections = sections
    this.#finder = finder
    this.#budget = budget
    this.#most = Math.min(most, budget.left)
  }

  /** Returns the text; undefined if it exceeded a limit. */
  end(): string | undefined {
    if (this.#isOverLimit) return undefined
    this.#budget.left -= this.#length
    this.#budget.idle -= Math.max(0, this.#idle - this.#length)
    this.#chunks.push(this.#pieces.join(''))
    return this.#chunks.join('')
  }

  *cut(pieces: CutText): Stoppable<void> {
    for (let at = 0; at < pieces.length && !this.#isOverLimit; at++) {
      const piece = pieces[at] as string
      const inside = at % 2 === 0 ? this.#add(piece) : this.#key(piece, 0)
      if (inside) yield* inside
    }
  }

  /** Returns the text split at its keys, unless there are too many. */
  *search(text: string): Stoppable<CutText | undefined> {
    const cut: string[] = []
    yield* this.#search(text, 0, [this.#finder], cut)
    return this.#isOverLimit || cut.length > MAX_PIECES ? undefined : cut
  }

  *#search(text: string, depth: number, finders: readonly KeyFinder[], cut?: string[]): Stoppable<void> {
    let from = 0
    for (let start = 0; start < text.length && !this.#isOverLimit; start += CHUNK) {
      const end = Math.min(text.length, start + CHUNK)
      const lengths = this.#mark(text, start, end, depth, finders)
      if (this.#shouldYield(end - start)) yield
      for (let at = Math.max(start, from); at < end; at++) {
        const length = lengths[at - start] as number
        if (length === 0) continue
        const key = text.slice(at, at + length)
        const before = text.slice(from, at)
        if (cut && cut.length <= MAX_PIECES) cut.push(before, key)
        this.#add(before)
        if (depth > 0) this.#countIdle(length)
        const inside = this.#key(key, depth)
        if (inside) yield* inside
        if (this.#isOverLimit) return
        if (this.#shouldYield(1)) yield
        from = at + length
        at = from - 1
      }
    }
    const rest = text.slice(from)
    cut?.push(rest)
    this.#add(rest)
  }

  /** Replaces a key; returns a generator if the replacement must be searched itself. */
  #key(key: string, depth: number): Stoppable<void> | undefined {
    const { texts, finder } = this.#sections
    const section = depth > 0 ? texts.get(key) : undefined
    const value = Object.hasOwn(this.#values, key) ? this.#values[key] : undefined
    if (section !== undefined && depth <= MAX_DEPTH && finder) {
      return this.#inside(section, depth, [this.#finder, finder])
    }
    if (value === undefined || depth > MAX_DEPTH) this.#add(key)
    else if (finder && depth < MAX_DEPTH) return this.#inside(value, depth, [finder])
    else this.#add(value)
    return undefined
  }

  #inside(text: string, depth: number, finders: readonly KeyFinder[]): Stoppable<void> | undefined {
    this.#countIdle(OVERHEAD)
    return this.#isOverLimit ? undefined : this.#search(text, depth + 1, finders)
  }

  /** Counts work on values and sections that adds no text. */
  #countIdle(units: number): void {
    this.#idle += units
    if (this.#idle > this.#budget.idle + this.#length) this.#isOverLimit = true
  }

  #mark(text: string, start: number, end: number, depth: number, finders: readonly KeyFinder[]): Uint16Array {
    let lengths = this.#lengths[depth]
    if (!lengths || lengths.length < end - start) lengths = this.#lengths[depth] = new Uint16Array(end - start)
    else lengths.fill(0, 0, end - start)
    for (const finder of finders) finder.mark(text, start, end, lengths)
    return lengths
  }

  #add(text: string): undefined {
    if (text === '' || this.#isOverLimit) return
    this.#length += text.length
    if (this.#length > this.#most) {
      this.#isOverLimit = true
      return
    }
    if (this.#pieces.push(text) < PIECES_PER_JOIN) return
    this.#chunks.push(this.#pieces.join(''))
    this.#pieces = []
  }

  /** Whether to yield to other work. */
  #shouldYield(units: number): boolean {
    this.#work += units
    if (this.#work < STOP_AFTER) return false
    this.#work = 0
    return true
  }
}

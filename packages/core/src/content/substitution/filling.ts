import type { Stoppable } from '../../platform/threads/turns.ts'
import { type CutText, MOST_PIECES } from './cut-texts.ts'
import type { KeyFinder } from './key-finder.ts'
import type { Sections, Substitutions } from './sections.ts'

/** What is left for the texts of one copy together. */
export interface Room {
  /** Characters they may still have. */
  left: number
  /** Characters of values and sections that may still be looked through for nothing. */
  idle: number
}

/** Characters of all texts of one copy: what a message may have. */
export const MOST_TOGETHER = 30 * 1024 * 1024
/** Sections of empty sections grow no text: so many characters of them are looked through, and one for each that the text has grown. */
const MOST_IDLE = 64 * 1024
/** What looking through a value or a section costs besides its characters. */
const OVERHEAD = 16
/** Values, sections and what stands in those. */
const DEEPEST = 4
/** Units of text that are searched at a time. */
const STRETCH = 64 * 1024
/** Units searched and pieces put together between two looks at the clock: some tenths of a millisecond. */
const STOP_AFTER = 16 * 1024
/** Pieces that are put together at a time: a string to which one is added after the other is a list of them all until it is read. */
const PIECES = 1024

export function roomForTexts(): Room {
  return { left: MOST_TOGETHER, idle: MOST_IDLE }
}

export interface FillingOptions {
  readonly values: Substitutions
  readonly sections: Sections
  readonly finder: KeyFinder
  readonly room: Room
  /** Characters the text may grow to. */
  readonly most: number
}

/** One text becoming one recipient's. */
export class Filling {
  readonly #values: Substitutions
  readonly #sections: Sections
  readonly #finder: KeyFinder
  readonly #room: Room
  readonly #most: number
  readonly #chunks: string[] = []
  /** One for each depth, as long as its longest stretch so far. */
  readonly #lengths: Uint16Array[] = []
  #pieces: string[] = []
  #length = 0
  #idle = 0
  #work = 0
  #tooLong = false

  constructor({ values, sections, finder, room, most }: FillingOptions) {
    this.#values = values
    this.#sections = sections
    this.#finder = finder
    this.#room = room
    this.#most = Math.min(most, room.left)
  }

  /** The text; undefined when it was given up. */
  end(): string | undefined {
    if (this.#tooLong) return undefined
    this.#room.left -= this.#length
    this.#room.idle -= Math.max(0, this.#idle - this.#length)
    this.#chunks.push(this.#pieces.join(''))
    return this.#chunks.join('')
  }

  *cut(pieces: CutText): Stoppable<void> {
    for (let at = 0; at < pieces.length && !this.#tooLong; at++) {
      const piece = pieces[at] as string
      const inside = at % 2 === 0 ? this.#add(piece) : this.#key(piece, 0)
      if (inside) yield* inside
    }
  }

  /** Answers the text cut at its keys, unless there are too many. */
  *search(text: string): Stoppable<CutText | undefined> {
    const cut: string[] = []
    yield* this.#search(text, 0, [this.#finder], cut)
    return this.#tooLong || cut.length > MOST_PIECES ? undefined : cut
  }

  *#search(text: string, depth: number, finders: readonly KeyFinder[], cut?: string[]): Stoppable<void> {
    let from = 0
    for (let start = 0; start < text.length && !this.#tooLong; start += STRETCH) {
      const end = Math.min(text.length, start + STRETCH)
      const lengths = this.#mark(text, start, end, depth, finders)
      if (this.#worked(end - start)) yield
      for (let at = Math.max(start, from); at < end; at++) {
        const length = lengths[at - start] as number
        if (length === 0) continue
        const key = text.slice(at, at + length)
        const before = text.slice(from, at)
        if (cut && cut.length <= MOST_PIECES) cut.push(before, key)
        this.#add(before)
        if (depth > 0) this.#pass(length)
        const inside = this.#key(key, depth)
        if (inside) yield* inside
        if (this.#tooLong) return
        if (this.#worked(1)) yield
        from = at + length
        at = from - 1
      }
    }
    const rest = text.slice(from)
    cut?.push(rest)
    this.#add(rest)
  }

  /** Puts in what stands for a key; answers what is to be looked through for that. */
  #key(key: string, depth: number): Stoppable<void> | undefined {
    const { texts, finder } = this.#sections
    const section = depth > 0 ? texts.get(key) : undefined
    const value = Object.hasOwn(this.#values, key) ? this.#values[key] : undefined
    if (section !== undefined && depth <= DEEPEST && finder) {
      return this.#inside(section, depth, [this.#finder, finder])
    }
    if (value === undefined || depth > DEEPEST) this.#add(key)
    else if (finder && depth < DEEPEST) return this.#inside(value, depth, [finder])
    else this.#add(value)
    return undefined
  }

  #inside(text: string, depth: number, finders: readonly KeyFinder[]): Stoppable<void> | undefined {
    this.#pass(OVERHEAD)
    return this.#tooLong ? undefined : this.#search(text, depth + 1, finders)
  }

  /** What of values and sections is no text: keys, and the effort. */
  #pass(units: number): void {
    this.#idle += units
    if (this.#idle > this.#room.idle + this.#length) this.#tooLong = true
  }

  #mark(text: string, start: number, end: number, depth: number, finders: readonly KeyFinder[]): Uint16Array {
    let lengths = this.#lengths[depth]
    if (!lengths || lengths.length < end - start) lengths = this.#lengths[depth] = new Uint16Array(end - start)
    else lengths.fill(0, 0, end - start)
    for (const finder of finders) finder.mark(text, start, end, lengths)
    return lengths
  }

  #add(text: string): undefined {
    if (text === '' || this.#tooLong) return
    this.#length += text.length
    if (this.#length > this.#most) {
      this.#tooLong = true
      return
    }
    if (this.#pieces.push(text) < PIECES) return
    this.#chunks.push(this.#pieces.join(''))
    this.#pieces = []
  }

  /** Is it time to stop for a moment? */
  #worked(units: number): boolean {
    this.#work += units
    if (this.#work < STOP_AFTER) return false
    this.#work = 0
    return true
  }
}

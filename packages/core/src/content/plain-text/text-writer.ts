/** Maximum characters of a text; what follows is left out. It has at least as many characters of HTML, of which mail programs show a tenth. */
const MAX_LENGTH = 1024 * 1024
const CUT = '\n[…]'
/** Maximum number of indents and quotation marks before a line. */
const MAX_INDENTS = 12
/** Blank lines in a row are one, except in preformatted text. */
const MAX_BREAKS = 2

/** White space of HTML, and blanks that only keep words together or fill a preheader. */
const WHITE = /[ \t\n\r\f\u00a0\u2007]+/g
const HAS_WHITE = /[\t\n\r\f\u00a0\u2007]| {2}/
/** Characters that mark where words may break, and a non-joiner before white space. They fill preheaders, too. */
const INVISIBLE = /[\u034f\u00ad\u200b\ufeff]|\u200c(?=[ \t\n\r\f\u00a0\u2007]|$)/g
const HAS_INVISIBLE = /[\u034f\u00ad\u200b\u200c\ufeff]/

const WORD = /^[\p{L}\p{N}]/u

interface Indent {
  /** The beginning of each line. */
  readonly text: string
  /** The beginning of the next line instead: the mark of an item. */
  first: string | undefined
}

/** Writes lines of plain text: white space collapses, and line ends are written only before further words. */
export class TextWriter {
  readonly #out: string[] = []
  #length = 0
  #lines = 0
  /** Line ends due before the next words. */
  #breaks = 0
  /** Whether a blank is due before the next words. */
  #isBlankDue = false
  /** Whether line ends do not count before the next words: at the beginning of a cell or an item. */
  #isMuted = false
  /** Whether the last words were written by {@link after}: words that follow directly would seem to be a part of them. */
  #isAfter = false
  readonly #indents: Indent[] = []
  /** The beginning of the last line, without the mark of an item. */
  #last = ''
  /** Position of the words since {@link mark}; -1 before the first of them, undefined if there is no mark. */
  #marked: number | undefined
  #markedLength = 0

  /** Whether the text has its maximum length. */
  get isFull(): boolean {
    return this.#length >= MAX_LENGTH
  }

  /** Characters written. */
  get length(): number {
    return this.#length
  }

  /** Lines that were begun. */
  get lines(): number {
    return this.#lines
  }

  /** The number of the line on which the next words will be. */
  get nextLine(): number {
    return this.#lines + (this.#breaks > 0 || this.#lines === 0 ? 1 : 0)
  }

  /** Line ends due before the next words. */
  get breaks(): number {
    return this.#breaks
  }

  /** Writes text, in which white space collapses. */
  text(raw: string): void {
    const seen = HAS_INVISIBLE.test(raw) ? raw.replace(INVISIBLE, '') : raw
    const text = HAS_WHITE.test(seen) ? seen.replace(WHITE, ' ') : seen
    if (text === '') return
    const from = text.startsWith(' ') ? 1 : 0
    if (from === 1) this.#isBlankDue = true
    if (text.length === from) return
    const endsBlank = text.endsWith(' ')
    this.#write(text.slice(from, endsBlank ? -1 : undefined))
    this.#isBlankDue = endsBlank
  }

  /** Writes text in which line ends count, and other white space collapses. */
  keepingLines(raw: string): void {
    for (const [at, line] of raw.replace(/\r\n?/g, '\n').split('\n').entries()) {
      if (at > 0) this.endLine()
      this.text(line)
      if (this.isFull) return
    }
  }

  /** Writes preformatted text. */
  preformatted(text: string): void {
    for (const [at, line] of text.replace(/\r\n?/g, '\n').split('\n').entries()) {
      if (at > 0) this.#breaks++
      if (line !== '') this.#write(line)
      if (this.isFull) return
    }
  }

  /** Writes words after the last ones, on their line. */
  after(text: string): void {
    this.#push(text)
    this.#isAfter = true
  }

  /** Ends the line; a second time, leaves one blank. */
  endLine(): void {
    if (this.#isMuted || this.#lines === 0) return
    this.#breaks = Math.max(this.#breaks, Math.min(this.#breaks + 1, MAX_BREAKS))
    this.#isBlankDue = false
  }

  /** Ends the line if it has words; with 2, leaves a blank line. */
  break(lines: number): void {
    if (this.#isMuted || this.#lines === 0 || lines === 0) return
    this.#breaks = Math.max(this.#breaks, lines)
    this.#isBlankDue = false
  }

  /** Reduces the line ends due. */
  limitBreaks(lines: number): void {
    this.#breaks = Math.min(this.#breaks, lines)
    if (lines === 0) this.#isBlankDue = true
  }

  /** Ignores line ends until words follow. */
  mute(): void {
    this.#isMuted = true
  }

  unmute(): void {
    this.#isMuted = false
  }

  /** Begins lines with this text, the next one with `first`. */
  indent(text: string, first?: string): void {
    const isDeep = this.#indents.length >= MAX_INDENTS
    this.#indents.push({ text: isDeep ? '' : text, first })
  }

  outdent(): void {
    this.#indents.pop()
  }

  /** Begins to note the words that follow. */
  mark(): void {
    this.#marked = -1
    this.#markedLength = this.#length
  }

  /** Returns the words since {@link mark} if they have at most `longest` characters; undefined if they are longer. */
  marked(longest: number): string | undefined {
    if (this.#marked === undefined || this.#marked < 0) return ''
    return this.#length - this.#markedLength > longest ? undefined : this.#out.slice(this.#marked).join('')
  }

  /** Replaces the words since {@link mark}, of which there are some. */
  replaceMarked(text: string): void {
    for (const piece of this.#out.splice(this.#marked ?? 0)) this.#length -= piece.length
    this.#push(text)
  }

  /** Returns the text, without white space at its end. */
  toString(): string {
    return this.#out.join('') + (this.isFull ? CUT : '')
  }

  #write(text: string): void {
    if (this.#breaks > 0 || this.#lines === 0) this.#beginLine()
    else if (this.#isBlankDue || (this.#isAfter && WORD.test(text))) this.#push(' ')
    if (this.#marked === -1) {
      this.#marked = this.#out.length
      this.#markedLength = this.#length
    }
    this.#isBlankDue = false
    this.#isMuted = false
    this.#isAfter = false
    this.#push(text)
  }

  #push(text: string): void {
    const left = MAX_LENGTH - this.#length
    this.#out.push(text.length <= left ? text : text.slice(0, Math.max(0, left)).trimEnd())
    this.#length += text.length
  }

  #beginLine(): void {
    let [begin, rest] = ['', '']
    for (const indent of this.#indents) {
      begin += indent.first ?? indent.text
      rest += indent.text
      indent.first = undefined
    }
    // A blank line is quoted only if both its neighbours are.
    const blank = (rest.startsWith(this.#last) ? this.#last : this.#last.startsWith(rest) ? rest : '').trimEnd()
    if (this.#lines > 0) this.#push(`${`\n${blank}`.repeat(this.#breaks - 1)}\n`)
    if (begin !== '') this.#push(begin)
    this.#last = rest
    this.#lines++
    this.#breaks = 0
  }
}

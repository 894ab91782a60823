import type { ClosedRole, ElementKind } from './elements.ts'
import type { LinkText } from './link-text.ts'
import type { TextWriter } from './text-writer.ts'

/** An open element. */
interface Open {
  readonly role: ClosedRole
  readonly name: string
  /** The number of the next item of a numbered list. */
  number: number | undefined
  /** Of a cell: the line it began on, and the characters before it. */
  readonly line: number
  readonly length: number
  /** Of a row or table: the cells with words, and the line ends that the last one had after it. */
  cells: number
  after: number
}

/** Maximum number of open elements; those within are read as if they had no beginning and end. */
const MAX_OPEN = 64
const MAX_NUMBER = 1_000_000

/** The elements beyond which an end tag, or the beginning of a sibling, closes nothing (HTML 13.2.4.2). */
const BARRIERS: Readonly<Record<ClosedRole, readonly ClosedRole[]>> = {
  item: ['list', 'cell', 'table'],
  list: ['cell', 'table'],
  quote: ['cell', 'table'],
  pre: ['cell', 'table'],
  cell: ['table'],
  row: ['table'],
  table: [],
}

/** The open lists, quotations, tables and their parts. */
export class Structure {
  readonly #writer: TextWriter
  readonly #link: LinkText
  readonly #open: Open[] = []
  /** Number of open elements beyond the maximum. */
  #beyond = 0
  #preformatted = 0

  constructor(writer: TextWriter, link: LinkText) {
    this.#writer = writer
    this.#link = link
  }

  get isPreformatted(): boolean {
    return this.#preformatted > 0
  }

  /** Returns the line ends before and after an element: a list within an item has no blank line. */
  breaksOf({ role, breaks }: ElementKind): number {
    return role === 'list' && this.#open.some((one) => one.role === 'item') ? 1 : breaks
  }

  /** `start`: the number that a list begins with. */
  open(name: string, role: ClosedRole, start: string | undefined): void {
    if (this.#open.length >= MAX_OPEN) {
      this.#beyond++
      return
    }
    const writer = this.#writer
    const { nextLine: line, length } = writer
    if (role === 'item') {
      const list = this.#open.findLast((one) => one.role === 'list')
      const mark = list?.number === undefined ? '- ' : `${list.number++}. `
      writer.indent(' '.repeat(mark.length), mark)
    }
    if (role === 'quote') writer.indent('> ')
    if (role === 'item' || role === 'cell') writer.mute()
    if (role === 'cell') writer.text(' ')
    if (role === 'pre') this.#preformatted++
    const number = name === 'ol' ? numberOf(start) : undefined
    this.#open.push({ role, name, number, line, length, cells: 0, after: 1 })
  }

  /** Ends the innermost element of this name, and those within it. */
  close(name: string, role: ClosedRole): void {
    if (this.#beyond > 0) {
      this.#beyond--
      return
    }
    this.#popTo(this.#find(role, (one) => one.name === name))
  }

  /** Ends what the beginning of an element ends where its own end is missing. */
  endImplied({ role }: ElementKind): void {
    if (role === 'link') this.#link.end()
    if (role === 'item' || role === 'row' || role === 'cell') this.#popTo(this.#find(role, (one) => one.role === role))
  }

  /** Returns the position of the innermost such element that an end tag of this role may close; undefined if there is none. */
  #find(role: ClosedRole, isIt: (one: Open) => boolean): number | undefined {
    for (let at = this.#open.length - 1; at >= 0; at--) {
      const one = this.#open[at] as Open
      if (isIt(one)) return at
      if (BARRIERS[role].includes(one.role)) return undefined
    }
    return undefined
  }

  #popTo(length: number | undefined): void {
    if (length === undefined) return
    while (this.#open.length > length) this.#pop(this.#open.pop() as Open)
  }

  #pop({ role, line, length, after }: Open): void {
    const writer = this.#writer
    this.#link.end()
    if (role === 'item' || role === 'quote') writer.outdent()
    if (role === 'pre') this.#preformatted--
    if (role === 'item' || role === 'cell') writer.unmute()
    if (role === 'item') writer.limitBreaks(1)
    if (role === 'row') writer.break(after)
    if (role !== 'cell' || writer.length === length) return
    const row = this.#open.findLast((one) => one.role === 'row' || one.role === 'table')
    if (row) {
      row.after = row.cells === 0 ? Math.max(1, writer.breaks) : 1
      row.cells++
    }
    // The next cell is on the same line, unless this one has several.
    if (writer.lines <= line) writer.limitBreaks(0)
    else writer.break(1)
  }
}

function numberOf(start: string | undefined): number {
  const number = Number(start ?? 1)
  return Number.isInteger(number) && Math.abs(number) < MAX_NUMBER ? number : 1
}

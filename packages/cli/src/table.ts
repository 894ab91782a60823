import { styleText } from 'node:util'

/**
 * The separators of ASCII mark tables in the text of an answer, so that it can be laid out where the width of the terminal is known.
 * Text from outside cannot contain them: {@link printable} replaces control characters.
 */
const [ROW, CELL, WHOLE, MINOR, TIGHT] = ['\x1e', '\x1f', '\x1d', '\x1c', '\x01']
const MARKS = [WHOLE, MINOR, TIGHT]

/** Space between columns. */
const GAP = '  '
/** Characters that remain of a cell that is cut, at least; of a column that may be cut although it has no blanks. */
const [MIN_CUT, MIN_CUT_TIGHT] = [24, 14]

/** The width and abilities of the output; no limit and no colours if it is not a terminal. */
export interface Layout {
  readonly columns?: number | undefined
  readonly hasColours: boolean
}

/** The treatment of columns, by their heading, on a terminal that is too narrow. */
interface Narrow {
  /** Never cut, for example because their values are copied. */
  readonly whole?: readonly string[]
  /** Left out, the last one first, before anything is cut. */
  readonly minor?: readonly string[]
  /** Cut although they have no blanks, and further than others: each row stays one line. */
  readonly tight?: readonly string[]
}

/** A table in the text of an answer, for {@link layOut}. */
export function table(
  heading: readonly string[],
  rows: readonly (readonly unknown[])[],
  { whole = [], minor = [], tight = [] }: Narrow = {},
): string {
  const markOf = (name: string): string => {
    if (minor.includes(name)) return MINOR.repeat(minor.indexOf(name) + 1)
    return whole.includes(name) ? WHOLE : tight.includes(name) ? TIGHT : ''
  }
  const marked = heading.map((name) => `${markOf(name)}${name}`)
  const cells = rows.map((row) => heading.map((_name, at) => cellText(row[at])))
  return [marked, ...cells].map((row) => `${ROW}${row.join(CELL)}`).join('\n')
}

/** A {@link table}, or the sentence `none` if it has no rows. */
export function tableOr(none: string, heading: readonly string[], rows: readonly (readonly unknown[])[]): string {
  return rows.length > 0 ? table(heading, rows) : none
}

export function cellText(value: unknown): string {
  return value instanceof Date ? value.toISOString() : printable(String(value ?? '')).replace(/[\t\n]/g, ' ')
}

/** Removes control characters: subjects and replies come from outside and must not send escape sequences or bidi overrides to a terminal. */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(/[^\P{C}\t\n]/gu, '\ufffd')
}

/**
 * Returns the text as it is printed: without control characters, its tables with aligned columns. A table that is wider than the
 * terminal has times without seconds; then its longest texts are cut; if that is not enough, each row is printed as a list of its cells.
 */
export function layOut(text: string, layout: Layout): string {
  const parts: string[] = []
  let rows: string[][] = []
  for (const line of [...text.split('\n'), undefined]) {
    if (line?.startsWith(ROW)) {
      rows.push(line.slice(ROW.length).split(CELL))
      continue
    }
    if (rows.length > 0) parts.push(tableText(rows, layout))
    rows = []
    if (line !== undefined) parts.push(printable(line))
  }
  return parts.join('\n')
}

function tableText([marked = [], ...given]: readonly string[][], layout: Layout): string {
  const { columns = Number.POSITIVE_INFINITY } = layout
  const all = given.map((row) => row.map(printable))
  const fits = (names: readonly string[], some: readonly (readonly string[])[]) =>
    widthOf(widthsOf(names.map(nameOf), some)) <= columns
  const show = (names: readonly string[], some: readonly (readonly string[])[]) =>
    aligned(names.map(nameOf), some, layout)
  if (fits(marked, all)) return show(marked, all)
  const short = all.map((row) => row.map((cell) => cell.replace(FULL_TIME, '$1Z')))
  if (fits(marked, short)) return show(marked, short)
  let [names, rows]: [readonly string[], readonly (readonly string[])[]] = [marked, short]
  for (let least = leastOf(names); least !== undefined && !fits(names, rows); least = leastOf(names)) {
    const left = least
    names = names.filter((_name, at) => at !== left)
    rows = rows.map((row) => row.filter((_cell, at) => at !== left))
  }
  if (fits(names, rows)) return show(names, rows)
  const cut = withCutTexts(names, rows, columns)
  return fits(names, cut) ? show(names, cut) : listed(marked.map(nameOf), all, layout)
}

const FULL_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d):\d\d\.\d{3}Z$/

/** The heading without its marks. */
function nameOf(marked: string): string {
  let start = 0
  while (MARKS.includes(marked[start] ?? '')) start++
  return printable(marked.slice(start))
}

/** The column that is left out first; undefined if all that are left are needed. */
function leastOf(marked: readonly string[]): number | undefined {
  const ranks = marked.map((name) => (name.startsWith(MINOR) ? name.lastIndexOf(MINOR) + 1 : 0))
  const most = Math.max(0, ...ranks)
  return most === 0 ? undefined : ranks.indexOf(most)
}

/** Texts are the columns with blanks in their cells, and those that are marked; the widest one is cut first. */
function withCutTexts(marked: readonly string[], rows: readonly (readonly string[])[], columns: number): string[][] {
  const widths = widthsOf(marked.map(nameOf), rows)
  const isTight = marked.map((name) => name.startsWith(TIGHT))
  const isText = marked.map((name, at) => !name.startsWith(WHOLE) && rows.some((row) => row[at]?.includes(' ')))
  const canCut = widths.map((width, at) =>
    isTight[at] ? width > MIN_CUT_TIGHT : Boolean(isText[at]) && width > MIN_CUT,
  )
  let surplus = widthOf(widths) - columns
  for (; surplus > 0; surplus--) {
    const [widest, at] = widestOf(widths, canCut)
    if (widest === 0) break
    widths[at] = widest - 1
    if (widest - 1 <= (isTight[at] ? MIN_CUT_TIGHT : MIN_CUT)) canCut[at] = false
  }
  return rows.map((row) =>
    row.map((cell, at) =>
      (isText[at] || isTight[at]) && cell.length > (widths[at] ?? 0)
        ? `${cell.slice(0, (widths[at] ?? 1) - 1)}…`
        : cell,
    ),
  )
}

function widestOf(widths: readonly number[], isText: readonly boolean[]): [width: number, at: number] {
  const texts = widths.map((width, at) => (isText[at] ? width : 0))
  const widest = Math.max(...texts)
  return [widest, texts.indexOf(widest)]
}

function widthsOf(heading: readonly string[], rows: readonly (readonly string[])[]): number[] {
  return heading.map((name, at) => rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), name.length))
}

function widthOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1)
}

/** A number, a bound of one, a share, a duration or a part of a whole. */
const NUMBER = /^[<>]?\d+(?:[.,]\d+)?(?: ?(?:%|ms|s|m|h|d)|\/\d+)?$/

function aligned(heading: readonly string[], rows: readonly (readonly string[])[], { hasColours }: Layout): string {
  const widths = widthsOf(heading, rows)
  // The first column has ids, which are not compared by their size.
  const isNumeric = heading.map(
    (_name, at) =>
      at > 0 && rows.some((row) => row[at] !== '') && rows.every((row) => row[at] === '' || NUMBER.test(row[at] ?? '')),
  )
  const line = (row: readonly string[], paint: (cell: string) => string) =>
    row
      .map((cell, at) => {
        const padding = ' '.repeat((widths[at] ?? 0) - cell.length)
        if (isNumeric[at]) return padding + paint(cell)
        // The last cell has no padding.
        return paint(cell) + (row.slice(at + 1).some(Boolean) ? padding : '')
      })
      .join(GAP)
      .trimEnd()
  const [title, value] = hasColours ? [bold, coloured] : [plain, plain]
  return [line(heading, title), ...rows.map((row) => line(row, value))].join('\n')
}

/** Each row as a block of lines, one per cell that is not empty. */
function listed(heading: readonly string[], rows: readonly (readonly string[])[], { hasColours }: Layout): string {
  const width = Math.max(...heading.map((name) => name.length))
  const [title, value] = hasColours ? [bold, coloured] : [plain, plain]
  const blocks = rows.map((row) =>
    row
      .flatMap((cell, at) => (cell === '' ? [] : `${title((heading[at] ?? '').padEnd(width))}${GAP}${value(cell)}`))
      .join('\n'),
  )
  return blocks.join('\n\n')
}

const plain = (text: string): string => text
const bold = (text: string): string => styleText('bold', text, { validateStream: false })

const GOOD = ['active', 'ok', 'delivered', 'healthy', 'enabled', 'done', 'valid', 'found']
const UNCERTAIN = [
  'pending',
  'deferred',
  'held',
  'set aside',
  'paused',
  'warn',
  'disabled',
  'expired',
  'running',
  'slowed',
]
const BAD = ['bad', 'bounced', 'dropped', 'failed', 'suspended', 'missing', 'wrong', 'listed', 'dead']

/** A cell that is a state, in its colour. */
function coloured(cell: string): string {
  const colour = GOOD.includes(cell)
    ? 'green'
    : UNCERTAIN.includes(cell)
      ? 'yellow'
      : BAD.includes(cell)
        ? 'red'
        : undefined
  return colour === undefined ? cell : styleText(colour, cell, { validateStream: false })
}

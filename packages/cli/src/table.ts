import { styleText } from 'node:util'

/**
 * The separators of ASCII mark tables in the text of an answer, so that it can be laid out where the width of the terminal is known.
 * Text from outside cannot contain them: {@link printable} replaces control characters.
 */
const [ROW, CELL, WHOLE] = ['\x1e', '\x1f', '\x1d']

/** Space between columns. */
const GAP = '  '
/** Characters that remain of a cell that is cut, at least. */
const MIN_CUT = 24

/** The width and abilities of the output; no limit and no colours if it is not a terminal. */
export interface Layout {
  readonly columns?: number | undefined
  readonly hasColours: boolean
}

/** A table in the text of an answer, for {@link layOut}. The columns in `whole` are never cut, for example because their values are copied. */
export function table(
  heading: readonly string[],
  rows: readonly (readonly unknown[])[],
  whole: readonly string[] = [],
): string {
  const marked = heading.map((name) => (whole.includes(name) ? `${WHOLE}${name}` : name))
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
  const heading = marked.map((name) => printable(name.replace(WHOLE, '')))
  const isWhole = marked.map((name) => name.startsWith(WHOLE))
  const rows = given.map((row) => row.map(printable))
  const fits = (some: readonly (readonly string[])[]) => widthOf(widthsOf(heading, some)) <= columns
  if (fits(rows)) return aligned(heading, rows, layout)
  const short = rows.map((row) => row.map((cell) => cell.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d):\d\d\.\d{3}Z$/, '$1Z')))
  if (fits(short)) return aligned(heading, short, layout)
  const cut = withCutTexts(heading, short, { columns, isWhole })
  return fits(cut) ? aligned(heading, cut, layout) : listed(heading, rows, layout)
}

/** Texts are the columns with spaces in their cells; the widest one is cut first. */
function withCutTexts(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  { columns, isWhole }: { readonly columns: number; readonly isWhole: readonly boolean[] },
): string[][] {
  const widths = widthsOf(heading, rows)
  const isText = heading.map((_name, at) => !isWhole[at] && rows.some((row) => row[at]?.includes(' ')))
  let surplus = widthOf(widths) - columns
  for (; surplus > 0; surplus--) {
    const [widest, at] =
      Math.max(...widths.filter((_width, one) => isText[one])) > MIN_CUT ? widestOf(widths, isText) : []
    if (widest === undefined || at === undefined) break
    widths[at] = widest - 1
  }
  return rows.map((row) =>
    row.map((cell, at) =>
      isText[at] && cell.length > (widths[at] ?? 0) ? `${cell.slice(0, (widths[at] ?? 1) - 1)}…` : cell,
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

function aligned(heading: readonly string[], rows: readonly (readonly string[])[], { hasColours }: Layout): string {
  const widths = widthsOf(heading, rows)
  const line = (row: readonly string[], paint: (cell: string) => string) =>
    row
      // The last cell has no padding.
      .map(
        (cell, at) =>
          paint(cell) + (row.slice(at + 1).some(Boolean) ? ' '.repeat((widths[at] ?? 0) - cell.length) : ''),
      )
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

/**
 * Spreadsheets evaluate cells that begin with these characters as formulas. An address, subject, tag or server reply
 * can begin with one.
 */
const FORMULA = /^[=+\-@'\t\r\n]/

/** Formats a cell according to RFC 4180. Text that a spreadsheet would evaluate is prefixed with an apostrophe. */
export function csvCell(value: string | number): string {
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value)
  return /[",;\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Reverses the apostrophe prefix of {@link csvCell} in a parsed cell. */
export function unguardedCell(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell
}

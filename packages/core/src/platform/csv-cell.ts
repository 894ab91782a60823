/** A spreadsheet takes a cell that begins like this for a formula, and an address, a subject, a tag or a server's reply may. */
const FORMULA = /^[=+\-@'\t\r\n]/

/** A cell as RFC 4180 has it; text that would be taken for a formula begins with an apostrophe. */
export function csvCell(value: string | number): string {
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value)
  return /[",;\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** What {@link csvCell} was given, of a cell read back. */
export function unguardedCell(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell
}

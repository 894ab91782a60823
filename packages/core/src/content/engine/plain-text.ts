import { convert } from 'html-to-text'

/** Maximum characters of HTML that are converted to plain text. */
export const MOST_CONVERTED = 256 * 1024

/**
 * Converts HTML to plain text without wrapping lines. Only for threads that can be stopped: 256 kB usually take 60 ms,
 * but 20 s with tens of thousands of nested blocks.
 */
export function toPlainText(html: string): string {
  return convert(html, { wordwrap: false, limits: { maxInputLength: MOST_CONVERTED, maxDepth: 100 } })
}

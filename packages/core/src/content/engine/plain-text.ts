import { convert } from 'html-to-text'

/** Maximum characters of HTML that are converted to plain text. */
export const MOST_CONVERTED = 256 * 1024

/** Headings keep their case, since `{{name}}` in one would become another name. */
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } }))

/**
 * Converts HTML to plain text without wrapping lines. Only for threads that can be stopped: 256 kB usually take 60 ms,
 * but 20 s with tens of thousands of nested blocks.
 */
export function toPlainText(html: string): string {
  return convert(html, {
    wordwrap: false,
    selectors: HEADINGS,
    limits: { maxInputLength: MOST_CONVERTED, maxDepth: 100 },
  })
}

import { convert, type Formatter } from 'html-to-text'

/** Maximum characters of HTML that are converted to plain text. */
export const MOST_CONVERTED = 256 * 1024

/** Headings keep their case, since `{{name}}` in one would become another name. */
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } }))
/** Most tables of mail are for layout, so that columns are not aligned: each row is a line, and cells are a space apart. */
const TABLES = [
  { selector: 'tr', format: 'row' },
  { selector: 'td', format: 'cell' },
  { selector: 'th', format: 'cell' },
]
/** Elements that mail programs do not show, such as a preheader. */
const HIDDEN = ['[hidden]', '[style*="display:none" i]', '[style*="display: none" i]'].map((selector) => ({
  selector,
  format: 'skip',
}))
const OTHERS = [
  { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
  { selector: 'img', format: 'alt' },
]

const formatters: Readonly<Record<string, Formatter>> = {
  row({ children }, walk, builder) {
    builder.openBlock({ leadingLineBreaks: 1 })
    walk(children, builder)
    builder.closeBlock({ trailingLineBreaks: 1 })
  },
  cell({ children }, walk, builder) {
    walk(children, builder)
    builder.addInline(' ')
  },
  alt: ({ attribs }, _walk, builder) => builder.addInline(attribs.alt ?? ''),
}

/**
 * Converts HTML to plain text without wrapping lines. Only for threads that can be stopped: 256 kB usually take 60 ms,
 * but 20 s with tens of thousands of nested blocks.
 */
export function toPlainText(html: string): string {
  return convert(html, {
    wordwrap: false,
    selectors: [...HEADINGS, ...TABLES, ...OTHERS, ...HIDDEN],
    formatters,
    limits: { maxInputLength: MOST_CONVERTED, maxDepth: 100 },
  })
}

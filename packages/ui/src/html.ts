import { html as tag } from 'hono/html'

/** A piece of HTML made by `html`. It is an object of its own, so no text can pass for one. */
export type Html = ReturnType<typeof tag>

/** Values of a template: texts and numbers are escaped, pieces of HTML and lists of them are not, and null, undefined and false show nothing. */
export type Value = Html | string | number | bigint | null | undefined | false | readonly Value[]

/** The texts of each template without the layout of its source; a template's texts are one array for the life of the process. */
const TEXTS = new WeakMap<TemplateStringsArray, TemplateStringsArray>()

/**
 * Removes line breaks that are followed by an indentation of two or more spaces: they keep lines of the source short and are not part of
 * the page. Before an attribute or a word such a break is one space. A line break without indentation is sent.
 */
function withoutLayout(strings: TemplateStringsArray): TemplateStringsArray {
  const known = TEXTS.get(strings)
  if (known) return known
  const texts = strings.map((text) => text.replace(/\n {2,}(?=<|$)/g, '').replace(/\n {2,}/g, ' '))
  const made = Object.assign(texts, { raw: strings.raw })
  TEXTS.set(strings, made)
  return made
}

/**
 * Builds a piece of HTML from a template. Every text in it is escaped for an element's content and for a quoted attribute; an unquoted
 * attribute is not safe, and test/ui/templates.test.ts refuses one.
 */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  return tag(withoutLayout(strings), ...values)
}

/** Nothing, where a template expects a piece. */
export const NOTHING = html``

/**
 * The beginnings of attributes with a path of the service: `href="/app`. Quotes in texts and values are escaped, so that only templates can have
 * one. test/ui/templates.test.ts refuses a path in another attribute.
 */
const PATHS = /(\s(?:href|src|action|formaction|data-from|data-checks|data-live|data-suggests)=")(?=\/(?!\/))/g

/**
 * Returns the text of a page. Templates write paths of the service as its routes have them, and here they get the path below which visitors
 * reach it: "/mail", or none if it has a host of its own.
 */
export async function render(piece: Html, publicPath = ''): Promise<string> {
  const text = String(await piece)
  return publicPath === '' ? text : text.replace(PATHS, `$1${publicPath}`)
}

import { html as tag } from 'hono/html'

/** A piece of HTML made by `html`. It is an object of its own, so no text can pass for one. */
export type Html = ReturnType<typeof tag>

/** Values of a template: texts and numbers are escaped, pieces of HTML and lists of them are not, and null, undefined and false show nothing. */
export type Value = Html | string | number | bigint | null | undefined | false | readonly Value[]

/**
 * Builds a piece of HTML from a template. Every text in it is escaped for an element's content and for a quoted attribute; an unquoted
 * attribute is not safe, and test/ui/templates.test.ts refuses one.
 */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  return tag(strings, ...values)
}

/** Nothing, where a template expects a piece. */
export const NOTHING = html``

/** Returns the text of a page. */
export async function render(piece: Html): Promise<string> {
  return String(await piece)
}

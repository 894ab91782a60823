import { type Html, html, type Value } from './html.ts'

/** Signs that are not seen, or that turn the direction of what follows: a subject may use them to look like another one. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/u
const AROUND_INVISIBLE = /([\p{Cc}\p{Cf}\u2028\u2029])/u

/**
 * Shows text of others (subjects, names, replies of servers): isolated in its direction, with invisible signs shown by their number.
 * The joiner of emoji and of Indic and Arabic scripts stays as it is.
 */
export function foreign(text: string): Html {
  if (!INVISIBLE.test(text)) return html`<bdi>${text}</bdi>`
  const parts: Value[] = text.split(AROUND_INVISIBLE).map((part) => (isShown(part) ? part : sign(part)))
  return html`<bdi>${parts}</bdi>`
}

/** The text without such signs, for a title: nothing there isolates its direction from the words of the browser. */
export function withoutInvisible(text: string): string {
  return text.split(AROUND_INVISIBLE).filter(isShown).join('')
}

function isShown(part: string): boolean {
  return part === '\u200d' || part === '\u200c' || !INVISIBLE.test(part)
}

function sign(part: string): Html {
  const number = (part.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')
  return html`<span class="ctl">U+${number}</span>`
}

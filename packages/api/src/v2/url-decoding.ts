import { percentDecoded } from './percent.ts'

/**
 * Content may come URL-encoded (contract section 5.2). Decoded only when the whole text has no raw `<`, `>` or white space
 * and at least one valid escape; `+` is a space only then; an invalid escape leaves the text as it is.
 */
export function decodeContent(text: string): string {
  if (!text.includes('%') || /[<>\s]/.test(text) || !/%[0-9a-f]{2}/i.test(text)) return text
  return percentDecoded(text, { stray: 'refused' }) ?? text
}

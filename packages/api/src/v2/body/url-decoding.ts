import { percentDecoded } from './percent.ts'

/**
 * Decodes URL-encoded content (contract section 5.2). Decodes only if the whole text has no raw `<`, `>` or white space and at
 * least one valid escape; only then is `+` a space. Text with an invalid escape is left unchanged.
 */
export function decodeContent(text: string): string {
  if (!text.includes('%') || /[<>\s]/.test(text) || !/%[0-9a-f]{2}/i.test(text)) return text
  return percentDecoded(text, { stray: 'refused' }) ?? text
}

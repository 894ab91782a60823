import type { LinkPlace } from './html-links.ts'
import { trackableUrl } from './url.ts'
import { followsUnfinishedUrl, isLineEnd, mayContinue } from './wrapped-url.ts'

/** Maximum length of a text whose links are tracked, as for HTML. */
const MAX_LENGTH = 1024 * 1024
/** URLs in the characters of RFC 3986. Each character can match in only one way, so the time is linear in the length. */
const URLS = /\bhttps?:\/\/[\w.~:/?#[\]@!$&'()*+,;=%-]+/gi
const CLOSING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '>': '<', '"': '"', "'": "'" }
/** Marks directly before a URL, after white space or at the beginning: `<URL:` is that of RFC 3986 appendix C. */
const BEGINNING = /(?:^|[ \t\r\f])([([<"']{0,4}|<URL:)$/i
/** Characters that mail programs keep at the end of a URL, all of them. Thunderbird drops a hyphen, others an underscore or a full stop. */
const CLEAR_END = /[a-z0-9/=]$/i
/** A URL in a list without blanks: programs take the whole list for one URL, or do not. */
const JOINED = /[^=/?&%]https?:\/\/|[,;][a-z]{2,16}:\/\/|[,;]www\./i
/** Characters of the line before a URL that are searched for a mark that opens. */
const LOOK_BACK = 200

/**
 * Finds the URLs of a plain text whose beginning and end no mail program can see elsewhere. Before it is white space, the beginning of the text, or a mark
 * that opens after one of these. The URL ends with a letter, a digit, `/` or `=`, and what follows is white space, the end of the text, or a closing mark
 * that was opened before the URL on its line. All others are left alone: a link that ends one character early leads nowhere, reset tokens end with any
 * character, and a URL within another one is a part of it.
 */
export function findTextLinks(text: string): LinkPlace[] {
  if (text.length > MAX_LENGTH) return []
  const links: LinkPlace[] = []
  for (const { 0: run, index } of text.matchAll(URLS)) {
    const length = clearLength(text, run, index)
    const written = run.slice(0, length)
    const url = length === 0 ? undefined : trackableUrl(written)
    if (url !== undefined) links.push({ start: index, end: index + length, url })
  }
  return links
}

/** Returns the length of the URL that begins at `index` with these characters; 0 if its end or its beginning is not clear. */
function clearLength(text: string, run: string, index: number): number {
  const end = index + run.length
  const searched = text.slice(Math.max(0, index - LOOK_BACK), index)
  const before = searched.slice(searched.lastIndexOf('\n') + 1)
  const opened = BEGINNING.exec(before)?.[1]
  if (opened === undefined || JOINED.test(run.slice(1))) return 0
  if (isFirst(before, opened) && followsUnfinishedUrl(text, index - before.length)) return 0
  // Brackets, and quotation marks that opened directly before, are no part of a URL whose end is clear.
  const mark = run.search(opened.endsWith("'") ? /[()[\]']/ : /[()[\]]/)
  const next = mark === -1 ? (text[end] ?? '') : (run[mark] as string)
  const length = mark === -1 ? run.length : mark
  const written = run.slice(0, length)
  // An apostrophe is a part of the URL for some programs, and its end for others.
  if (!CLEAR_END.test(written) || written.includes("'")) return 0
  // RFC 3986 appendix C: a URL in angle brackets may have white space in it, and go on in the next line.
  if (isOpen(before, '<', '>') && (next !== '>' || !opened.includes('<'))) return 0
  if (/^[ \t\r\n\f]?$/.test(next)) {
    const isInMarks = opened !== '' || isOpen(before, '(', ')') || isOpen(before, '[', ']')
    return (isInMarks && isLineEnd(text, end)) || mayContinue(text, index, end) ? 0 : length
  }
  const opening = CLOSING[next]
  if (opening === undefined) return 0
  const isOpened = opening === next ? opened.endsWith(opening) : isOpen(before, opening, next)
  if (!isOpened) return 0
  const after = text.slice(index + length + 1, index + length + 5)
  return /^(?:[)\].,;:!?]{0,3}(?:[ \t\r\n]|$)|[)\].,;:!?]{4})/.test(after) ? length : 0
}

/** Whether nothing but marks of quotation is before the URL on its line. */
function isFirst(before: string, opened: string): boolean {
  return before.length < LOOK_BACK && /^[ \t>]*$/.test(before.slice(0, before.length - opened.length))
}

/** Whether the last of these two marks is the opening one. */
function isOpen(before: string, opening: string, closing: string): boolean {
  return before.lastIndexOf(opening) > before.lastIndexOf(closing)
}

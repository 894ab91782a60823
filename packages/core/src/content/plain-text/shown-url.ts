/** Maximum characters of a URL that is shown; longer ones are left out. */
const MAX_URL = 8192
/** Links that lead nowhere from plain text. */
const NOWHERE: ReadonlySet<string> = new Set(['javascript', 'vbscript', 'data', 'cid', 'mid', 'file', 'about', 'blob'])
/** Characters that the words of a URL may leave out: `https://www.` and `/`. */
const MAX_LEFT_OUT = 13
/** Tags of templates may have blanks in them. */
const TAG = /\{\{|\[%|<%/

/** Returns how the address of a link is written in plain text; empty if it is not. */
export function shownUrl(href: string): string {
  if (href.length > MAX_URL) return ''
  // As browsers do, ignores surrounding blanks and line ends within the URL (WHATWG URL 4.4).
  const url = href.trim().replace(/[\t\r\n]/g, '')
  if (url === '' || url.startsWith('#')) return ''
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase()
  if (scheme !== undefined && NOWHERE.has(scheme)) return ''
  if (scheme === 'mailto' || scheme === 'tel' || scheme === 'sms') {
    return decoded(url.slice(scheme.length + 1).split('?', 1)[0] ?? '')
  }
  // A relative address leads nowhere from a mail. Without a scheme, only a host is usable.
  if (scheme === undefined && !TAG.test(url) && !/^(?:\/\/|www\.)/i.test(url)) return ''
  return TAG.test(url) ? url : url.replaceAll(' ', '%20')
}

/** Returns whether the words of a link are its URL. */
export function isSameLink(words: string, url: string): boolean {
  return words === url || (words.length + MAX_LEFT_OUT >= url.length && bare(words) === bare(url))
}

function bare(text: string): string {
  const address = text.toLowerCase().replace(/^https?:\/\/(?:www\.)?|^www\.|^mailto:|^tel:/, '')
  // Only a telephone number is written in groups.
  const digits = /^[+\d(][\d\s()./-]*$/.test(address) ? address.replace(/[\s()./-]/g, '') : address
  return digits.endsWith('/') ? digits.slice(0, -1) : digits
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text).trim()
  } catch {
    return text
  }
}

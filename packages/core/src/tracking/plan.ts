import { findHtmlLinks, type LinkPlace } from './html-links.ts'
import type { Links } from './links.ts'
import { findTextLinks } from './text-links.ts'

/** Stands for the address of the page that takes a recipient off the list, in content and footers. */
export const UNSUBSCRIBE_TAG = 'UNSUBSCRIBE_URL'
const TAGS = new RegExp(`\\[%\\s{0,16}${UNSUBSCRIBE_TAG}\\s{0,16}%\\]`, 'gi')
/** Links of one part that are tracked; each takes 16 µs to seal, for every recipient. */
const MOST_LINKS = 1000

/** What is put into a text, whoever gets it. */
export interface PlanOptions {
  readonly openTracking: boolean
  readonly clickTracking: boolean
  readonly unsubscribe: boolean
  readonly footer: string | undefined
  /** Links that begin with one of these are ours already. */
  readonly own: readonly string[]
  /** What the characters of a link mean, where the text is octets in some charset. */
  readonly decode?: (raw: string) => string
}

/** A text with the places where something is to be put for each recipient; what recipients share is found out once. */
export interface Plan {
  readonly text: string
  /** In order, none within another. `url` undefined: the unsubscribe tag. */
  readonly places: readonly { readonly start: number; readonly end: number; readonly url: string | undefined }[]
  readonly links: number
  /** Where the unsubscribe link and the pixel go. */
  readonly end: number
  readonly unsubscribeLine: boolean
  readonly pixel: boolean
}

/** Undefined: there is nothing to put in. */
export function planHtml(html: string, options: PlanOptions): Plan | undefined {
  const { decode } = options
  const { links, end } = findHtmlLinks(html, decode)
  const footer = options.footer ?? ''
  const ofFooter = footer && options.clickTracking ? findHtmlLinks(footer).links : []
  const moved = links.map((link) => (link.start < end ? link : shifted(link, footer.length)))
  const all = [...moved.filter(({ start }) => start < end), ...ofFooter.map((link) => shifted(link, end))]
  all.push(...moved.filter(({ start }) => start >= end))
  const text = footer ? `${html.slice(0, end)}${footer}${html.slice(end)}` : html
  return planOf(text, all, end + footer.length, options)
}

/** A text has no pixel. Undefined: there is nothing to put in. */
export function planText(plain: string, options: PlanOptions): Plan | undefined {
  const text = options.footer ? `${lineEnded(plain)}\r\n${lineEnded(options.footer)}` : plain
  return planOf(text, findTextLinks(text, options.decode), text.length, { ...options, openTracking: false })
}

function planOf(text: string, found: readonly LinkPlace[], end: number, options: PlanOptions): Plan | undefined {
  const { openTracking, clickTracking, unsubscribe, footer } = options
  const tags = unsubscribe
    ? [...text.matchAll(TAGS)].map(({ 0: tag, index }) => ({ index, end: index + tag.length }))
    : []
  const links = clickTracking ? tracked(found, options.own, tags).slice(0, MOST_LINKS) : []
  const holes = tags.map(({ index, end }) => ({ start: index, end, url: undefined }))
  const places = [...links, ...holes].sort((a, b) => a.start - b.start)
  const unsubscribeLine = unsubscribe && tags.length === 0
  if (places.length === 0 && !unsubscribeLine && !openTracking && !footer) return undefined
  return { text, places, links: links.length, end, unsubscribeLine, pixel: openTracking }
}

/** Without those that are ours, and those that hold an unsubscribe tag: what it stands for is not known yet. */
function tracked(
  links: readonly LinkPlace[],
  own: readonly string[],
  tags: readonly { index: number; end: number }[],
): LinkPlace[] {
  let next = 0
  return links.filter(({ start, end, url }) => {
    while (next < tags.length && (tags[next] as { end: number }).end <= start) next++
    const tag = tags[next]
    if (tag && tag.index < end) return false
    return !own.some((base) => url.toLowerCase().startsWith(base))
  })
}

/** The HTML for one recipient; its links are numbered from `first`. */
export function fillHtml(plan: Plan, links: Links, first: number): string {
  let line = ''
  if (plan.unsubscribeLine)
    line += `<p style="font-size:12px"><a href="${escaped(links.unsubscribe())}">Unsubscribe</a></p>`
  if (plan.pixel) line += `<img src="${escaped(links.open())}" width="1" height="1" alt="" style="border:0">`
  return fill(plan, { links, first, line, write: escaped })
}

/** The text for one recipient. */
export function fillText(plan: Plan, links: Links, first: number): string {
  const text = fill(plan, { links, first, line: '', write: (url) => url })
  return plan.unsubscribeLine ? `${lineEnded(text)}\r\nUnsubscribe: ${links.unsubscribe()}\r\n` : text
}

function fill(
  { text, places, end }: Plan,
  { links, first, line, write }: { links: Links; first: number; line: string; write: (url: string) => string },
): string {
  const out: string[] = []
  let at = 0
  let link = first
  let open = line !== ''
  for (const { start, end: after, url } of places) {
    if (open && start >= end) {
      out.push(text.slice(at, end), line)
      at = end
      open = false
    }
    out.push(text.slice(at, start), write(url === undefined ? links.unsubscribe() : links.click(link++, url)))
    at = after
  }
  if (open) {
    out.push(text.slice(at, end), line)
    at = end
  }
  out.push(text.slice(at))
  return out.join('')
}

function shifted({ start, end, url }: LinkPlace, by: number): LinkPlace {
  return { start: start + by, end: end + by, url }
}

function lineEnded(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\r\n`
}

/** For an attribute's value, quoted or not. */
function escaped(url: string): string {
  return /[&"'<>`]/.test(url) ? url.replace(/[&"'<>`]/g, (char) => `&#${char.charCodeAt(0)};`) : url
}

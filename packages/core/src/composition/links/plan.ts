import { findHtmlLinks, type LinkPlace } from './html-links.ts'
import { withParameters } from './link-parameters.ts'
import { findTextLinks } from './text-links.ts'
import { cutSentence, type Sentence } from './unsubscribe-sentence.ts'

/** Stands for the address of the page that takes a recipient off the list, in content and footers. */
export const UNSUBSCRIBE_TAG = 'UNSUBSCRIBE_URL'
const TAGS = new RegExp(`\\[%\\s{0,16}${UNSUBSCRIBE_TAG}\\s{0,16}%\\]`, 'gi')
/** Links of one part that are tracked; each takes 16 µs to seal, for every recipient. */
const MOST_LINKS = 1000

/** Tags of one part that are replaced; each may be a single character, and becomes a whole link. */
const MOST_TAGS = 1000

/** What is put into a text, whoever gets it. */
export interface PlanOptions {
  readonly openTracking: boolean
  readonly clickTracking: boolean
  readonly unsubscribe: boolean
  /** The text has an unsubscribe link, and needs none at its end. */
  readonly isLinked?: boolean
  readonly footer: string | undefined
  /** Links that begin with one of these are ours already. */
  readonly own: readonly string[]
  /** What the characters of a link mean, where the text is octets in some charset. */
  readonly decode?: (raw: string) => string
  /** False: links of plain text stay as they are. */
  readonly clickTrackingInText?: boolean | undefined
  /** The first of them in HTML becomes the pixel, in place of the one at the end; others are taken out. */
  readonly openTag?: string | undefined
  /** Stands for the bare address of the unsubscribe link, as the merge tag does. */
  readonly unsubscribeTag?: string | undefined
  /** What is said at the end, in place of our own words; see unsubscribe-sentence.ts. */
  readonly unsubscribeTexts?: { readonly text?: string; readonly html?: string } | undefined
  /** Added to the query of the links of HTML, before they are tracked. */
  readonly linkParameters?: Readonly<Record<string, string>> | undefined
  /** Where the merge tag is plain text. */
  readonly literal?: { readonly text: boolean; readonly footer: boolean } | undefined
}

/** A text with the places where something is to be put for each recipient; what recipients share is found out once. */
export interface Plan {
  readonly text: string
  /** In order, none within another. */
  readonly places: readonly Place[]
  /** How many of them are tracked. */
  readonly links: number
  /** Where the unsubscribe link and the pixel go. */
  readonly end: number
  readonly unsubscribeLine: boolean
  /** The sender's own words for it. */
  readonly sentence: Sentence | undefined
  /** Is there one at the end? */
  readonly pixel: boolean
}

/** A link that is tracked, or only written anew; where the unsubscribe link or the pixel goes; what is taken out. */
type Place = Span &
  ({ readonly kind: 'click' | 'link'; readonly url: string } | { readonly kind: 'unsubscribe' | 'pixel' | 'nothing' })

interface Span {
  readonly start: number
  readonly end: number
}

/** Undefined: there is nothing to put in. */
export function planHtml(html: string, options: PlanOptions): Plan | undefined {
  const { decode, clickTracking, linkParameters } = options
  const { links, end } = findHtmlLinks(html, decode)
  const footer = options.footer ?? ''
  const ofFooter = footer && (clickTracking || linkParameters) ? findHtmlLinks(footer).links : []
  const moved = links.map((link) => (link.start < end ? link : shifted(link, footer.length)))
  const all = [...moved.filter(({ start }) => start < end), ...ofFooter.map((link) => shifted(link, end))]
  all.push(...moved.filter(({ start }) => start >= end))
  const text = footer ? `${html.slice(0, end)}${footer}${html.slice(end)}` : html
  const footerAt = { start: end, end: end + footer.length }
  return planOf(text, all, { end: footerAt.end, footerAt, sentence: options.unsubscribeTexts?.html }, options)
}

/** A text has no pixel. Undefined: there is nothing to put in. */
export function planText(plain: string, options: PlanOptions): Plan | undefined {
  const text = options.footer ? `${lineEnded(plain)}\r\n${lineEnded(options.footer)}` : plain
  const clickTracking = options.clickTracking && options.clickTrackingInText !== false
  const footerAt = { start: options.footer ? lineEnded(plain).length : text.length, end: text.length }
  return planOf(
    text,
    clickTracking ? findTextLinks(text, options.decode) : [],
    { end: text.length, footerAt, sentence: options.unsubscribeTexts?.text },
    { ...options, clickTracking, openTracking: false, linkParameters: undefined },
  )
}

function planOf(
  text: string,
  found: readonly LinkPlace[],
  { end, footerAt, sentence }: { end: number; footerAt: Span; sentence: string | undefined },
  options: PlanOptions,
): Plan | undefined {
  const { openTracking, unsubscribe, isLinked = false, footer } = options
  const tags = tagsIn(text, footerAt, options)
  const links = linksIn(found, tags, options)
  const places = links.length === 0 ? tags : [...links, ...tags].sort((a, b) => a.start - b.start)
  const unsubscribeLine = unsubscribe && !isLinked && !tags.some(({ kind }) => kind === 'unsubscribe')
  const pixel = openTracking && !tags.some(({ kind }) => kind === 'pixel')
  if (places.length === 0 && !unsubscribeLine && !pixel && !footer) return undefined
  const clicks = options.clickTracking ? links.length : 0
  const said = unsubscribeLine && sentence !== undefined ? cutSentence(sentence) : undefined
  return { text, places, links: clicks, end, unsubscribeLine, sentence: said, pixel }
}

/** In order, none within another. */
function tagsIn(text: string, footerAt: Span, options: PlanOptions): Place[] {
  const { openTracking, openTag, unsubscribe, unsubscribeTag, literal } = options
  const tags: Place[] = []
  if (unsubscribe) {
    for (const { 0: tag, index: start } of text.matchAll(TAGS)) {
      const inFooter = start >= footerAt.start && start < footerAt.end
      if (inFooter ? literal?.footer : literal?.text) continue
      tags.push({ start, end: start + tag.length, kind: 'unsubscribe' })
    }
    for (const span of spansOf(text, unsubscribeTag)) tags.push({ ...span, kind: 'unsubscribe' })
  }
  if (openTracking) {
    for (const [at, span] of spansOf(text, openTag).entries()) {
      tags.push({ ...span, kind: at === 0 ? 'pixel' : 'nothing' })
    }
  }
  if (!unsubscribeTag && !openTag) return tags
  let after = 0
  return tags
    .sort((a, b) => a.start - b.start)
    .filter(({ start, end }) => {
      if (start < after) return false
      after = end
      return true
    })
}

/** The text with the first thousand of these tags replaced. */
export function replaceTags(text: string, tag: string, by: string): string {
  let out = ''
  let at = 0
  for (const { start, end } of spansOf(text, tag)) {
    out += text.slice(at, start) + by
    at = end
  }
  return out + text.slice(at)
}

function spansOf(text: string, tag: string | undefined): Span[] {
  const spans: Span[] = []
  if (!tag) return spans
  for (let at = text.indexOf(tag); at !== -1 && spans.length < MOST_TAGS; at = text.indexOf(tag, at + tag.length)) {
    spans.push({ start: at, end: at + tag.length })
  }
  return spans
}

function linksIn(found: readonly LinkPlace[], tags: readonly Span[], options: PlanOptions): Place[] {
  const { clickTracking, linkParameters } = options
  if (!clickTracking && !linkParameters) return []
  return tracked(found, options.own, tags)
    .slice(0, MOST_LINKS)
    .flatMap(({ start, end, url: written }): Place[] => {
      const url = linkParameters ? withParameters(written, linkParameters) : written
      if (clickTracking) return [{ start, end, kind: 'click', url }]
      return url === written ? [] : [{ start, end, kind: 'link', url }]
    })
}

/** Without those that are ours, and those that hold a tag: what it stands for is not known yet. */
function tracked(links: readonly LinkPlace[], own: readonly string[], tags: readonly Span[]): LinkPlace[] {
  let next = 0
  return links.filter(({ start, end, url }) => {
    while (next < tags.length && (tags[next] as Span).end <= start) next++
    const tag = tags[next]
    if (tag && tag.start < end) return false
    return !own.some((base) => url.toLowerCase().startsWith(base))
  })
}

function shifted({ start, end, url }: LinkPlace, by: number): LinkPlace {
  return { start: start + by, end: end + by, url }
}

export function lineEnded(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\r\n`
}

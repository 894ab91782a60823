import { findHtmlLinks, type LinkPlace } from './html-links.ts'
import { withParameters } from './link-parameters.ts'
import { findTextLinks } from './text-links.ts'
import { cutSentence, type Sentence } from './unsubscribe-sentence.ts'

/** The merge tag that content and footers use for the unsubscribe URL. */
export const UNSUBSCRIBE_TAG = 'UNSUBSCRIBE_URL'
const TAGS = new RegExp(`\\[%\\s{0,16}${UNSUBSCRIBE_TAG}\\s{0,16}%\\]`, 'gi')
/** Maximum number of tracked links per part. Encrypting each takes 16 µs for every recipient. */
const MAX_LINKS = 1000

/** Maximum number of replaced tags per part. A tag may be a single character and is replaced by a whole link. */
const MAX_TAGS = 1000

/** Options for the content added to a text, equal for all recipients. */
export interface PlanOptions {
  readonly openTracking: boolean
  readonly clickTracking: boolean
  readonly unsubscribe: boolean
  /** Whether the text already has an unsubscribe link, so that none is added at its end. */
  readonly isLinked?: boolean
  readonly footer: string | undefined
  /** URL prefixes of this service; links that begin with one of them are not tracked again. */
  readonly own: readonly string[]
  /** Decodes the value of a link if the text has one character per byte of its charset. */
  readonly decode?: (raw: string) => string
  /** URLs in plain text that are not tracked. */
  readonly untracked?: ReadonlySet<string> | undefined
  /** If false, links in plain text are not tracked. */
  readonly clickTrackingInText?: boolean | undefined
  /** The first such tag in HTML is replaced by the pixel, which is then not added at the end; further tags are removed. */
  readonly openTag?: string | undefined
  /** Replaced by the URL of the unsubscribe link, like the merge tag. */
  readonly unsubscribeTag?: string | undefined
  /** The sentence at the end; undefined for the service's default. See unsubscribe-sentence.ts. */
  readonly unsubscribeTexts?: { readonly text?: string; readonly html?: string } | undefined
  /** Parameters added to the query of links in HTML before they are tracked. */
  readonly linkParameters?: Readonly<Record<string, string>> | undefined
  /** Where merge tags are disabled and the unsubscribe tag is ordinary text. */
  readonly literal?: { readonly text: boolean; readonly footer: boolean } | undefined
}

/** A text and the positions that differ for each recipient. It is computed once for all recipients. */
export interface Plan {
  readonly text: string
  /** In order, not overlapping. */
  readonly places: readonly Place[]
  /** Number of tracked links among them. */
  readonly links: number
  /** Position of the unsubscribe line and the pixel. */
  readonly end: number
  readonly unsubscribeLine: boolean
  /** The sender's sentence for the unsubscribe line; undefined for the default. */
  readonly sentence: Sentence | undefined
  /** Whether a pixel is added at the end. */
  readonly pixel: boolean
}

/** A tracked or rewritten link, the position of the unsubscribe link or the pixel, or a tag to be removed. */
type Place = Span &
  ({ readonly kind: 'click' | 'link'; readonly url: string } | { readonly kind: 'unsubscribe' | 'pixel' | 'nothing' })

interface Span {
  readonly start: number
  readonly end: number
}

/** Returns the plan of an HTML text; undefined if there is nothing to add. */
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

/** Returns the plan of a plain text, which has no pixel; undefined if there is nothing to add. */
export function planText(plain: string, options: PlanOptions): Plan | undefined {
  const text = options.footer ? `${lineEnded(plain)}\r\n${lineEnded(options.footer)}` : plain
  const clickTracking = options.clickTracking && options.clickTrackingInText !== false
  const footerAt = { start: options.footer ? lineEnded(plain).length : text.length, end: text.length }
  return planOf(
    text,
    clickTracking ? linksInText(text, options.untracked) : [],
    { end: text.length, footerAt, sentence: options.unsubscribeTexts?.text },
    { ...options, clickTracking, openTracking: false, linkParameters: undefined },
  )
}

function linksInText(text: string, untracked: PlanOptions['untracked']): LinkPlace[] {
  const links = findTextLinks(text)
  return untracked?.size ? links.filter(({ start, end }) => !untracked.has(text.slice(start, end))) : links
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
  const words = unsubscribeLine && sentence !== undefined ? cutSentence(sentence) : undefined
  return { text, places, links: clicks, end, unsubscribeLine, sentence: words, pixel }
}

/** Returns the tags in order, not overlapping. */
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

/** Returns the text with the first 1000 of these tags replaced. */
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
  for (let at = text.indexOf(tag); at !== -1 && spans.length < MAX_TAGS; at = text.indexOf(tag, at + tag.length)) {
    spans.push({ start: at, end: at + tag.length })
  }
  return spans
}

function linksIn(found: readonly LinkPlace[], tags: readonly Span[], options: PlanOptions): Place[] {
  const { clickTracking, linkParameters } = options
  if (!clickTracking && !linkParameters) return []
  return tracked(found, options.own, tags)
    .slice(0, MAX_LINKS)
    .flatMap(({ start, end, url: written }): Place[] => {
      const url = linkParameters ? withParameters(written, linkParameters) : written
      if (clickTracking) return [{ start, end, kind: 'click', url }]
      return url === written ? [] : [{ start, end, kind: 'link', url }]
    })
}

/** Returns the links to be tracked: not those of this service, nor those that contain a tag, whose value is not yet known. */
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

/** Returns the text with a line end at its end, unless it is empty. */
export function lineEnded(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\r\n`
}

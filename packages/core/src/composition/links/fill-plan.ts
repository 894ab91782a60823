import type { Links } from './links.ts'
import { lineEnded, type Plan } from './plan.ts'
import { PREFERENCES_LABEL, type Sentence, say } from './unsubscribe-sentence.ts'

/** Returns the HTML for one recipient. Its links are numbered from `first`. */
export function fillHtml(plan: Plan, links: Links, first: number): string {
  let line = ''
  if (plan.unsubscribeLine)
    line += plan.sentence === undefined ? defaultLine(links) : htmlSentence(plan.sentence, links)
  if (plan.pixel) line += pixel(links)
  return fill(plan, { links, first, line, write: escaped })
}

/** Returns the plain text for one recipient. Its links are numbered from `first`. */
export function fillText(plan: Plan, links: Links, first: number): string {
  const text = fill(plan, { links, first, line: '', write: (url) => url })
  if (!plan.unsubscribeLine) return text
  const sentence =
    plan.sentence === undefined
      ? `Unsubscribe: ${links.unsubscribe()}`
      : say(plan.sentence, (label) => (label ? `${label} ( ${urlFor(label, links)} )` : links.unsubscribe()))
  return `${lineEnded(text)}\r\n${sentence}\r\n`
}

function defaultLine(links: Links): string {
  return `<p style="font-size:12px"><a href="${escaped(links.unsubscribe())}">Unsubscribe</a></p>`
}

function htmlSentence(sentence: Sentence, links: Links): string {
  return say(sentence, (label) => {
    const url = escaped(urlFor(label, links))
    return `<a href="${url}">${label || url}</a>`
  })
}

function urlFor(label: string, links: Links): string {
  return label === PREFERENCES_LABEL ? links.preferences() : links.unsubscribe()
}

function pixel(links: Links): string {
  return `<img src="${escaped(links.open())}" width="1" height="1" alt="" style="border:0">`
}

interface Filling {
  readonly links: Links
  readonly first: number
  readonly line: string
  readonly write: (url: string) => string
}

function fill({ text, places, end }: Plan, { links, first, line, write }: Filling): string {
  const out: string[] = []
  let at = 0
  let link = first
  let open = line !== ''
  for (const place of places) {
    if (open && place.start >= end) {
      out.push(text.slice(at, end), line)
      // A tag of the sender may extend beyond the end.
      at = Math.max(at, end)
      open = false
    }
    out.push(text.slice(at, place.start))
    if (place.kind === 'click') out.push(write(links.click(link++, place.url)))
    else if (place.kind === 'link') out.push(write(place.url))
    else if (place.kind === 'unsubscribe') out.push(write(links.unsubscribe()))
    else if (place.kind === 'pixel') out.push(pixel(links))
    at = place.end
  }
  if (open) {
    out.push(text.slice(at, end), line)
    at = Math.max(at, end)
  }
  out.push(text.slice(at))
  return out.join('')
}

/** Escapes a URL for an attribute value, quoted or not. */
function escaped(url: string): string {
  return /[&"'<>`]/.test(url) ? url.replace(/[&"'<>`]/g, (char) => `&#${char.charCodeAt(0)};`) : url
}

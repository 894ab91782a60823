import { decodeHTMLAttribute } from 'entities/decode'
import { Tokenizer } from 'htmlparser2'
import { TRACKING_OFF, TRACKING_OFF_WITHOUT_VALUE } from '../../content/plain-text/elements.ts'
import { HtmlReader } from '../../content/plain-text/html-reader.ts'
import { trackableUrl } from './url.ts'

/** A URL in a text and its position. */
export interface LinkPlace {
  readonly start: number
  readonly end: number
  readonly url: string
}

export interface HtmlFindings {
  /** In order of position. */
  readonly links: readonly LinkPlace[]
  /** Position at which inserted content is displayed last. */
  readonly end: number
}

/**
 * Maximum length of HTML whose links are tracked; reading it takes 30 ms. Mail clients truncate at a tenth of that (Gmail at
 * 102 kB). Longer HTML is not changed.
 */
const MAX_LENGTH = 1024 * 1024

/**
 * Finds the links of `<a href>` and `<area href>`, except those in the head, in comments, scripts and styles, and those for which
 * the sender disabled tracking. Returns positions and never serializes HTML, so that the rest stays the same byte for byte.
 *
 * `decode` decodes the value of an attribute if the text has one character per byte of its charset.
 */
export function findHtmlLinks(html: string, decode: (raw: string) => string = (raw) => raw): HtmlFindings {
  if (html.length > MAX_LENGTH) return { links: [], end: endOf(html) }
  const reader = new LinkReader(html, decode)
  const tokenizer = new Tokenizer({ decodeEntities: false }, reader)
  tokenizer.write(html)
  tokenizer.end()
  return reader.findings()
}

/** Returns the end of HTML that is too long to be read: the position before its closing tags. */
function endOf(html: string): number {
  const tail = html.slice(-4096).toLowerCase()
  const at =
    [tail.lastIndexOf('</body'), tail.lastIndexOf('</html')].find((place) => place !== -1) ?? tail.trimEnd().length
  return html.length - tail.length + at
}

class LinkReader extends HtmlReader {
  readonly #html: string
  readonly #decode: (raw: string) => string
  readonly #links: (LinkPlace & { inHead: boolean })[] = []
  #bodyEnd = -1
  #htmlEnd = -1
  #inHead = false
  #headEnded = false
  /** Whether the current tag is one whose link is tracked. */
  #isLink = false
  #off = false
  #attribute = ''
  #href: { start: number; end: number } | undefined

  constructor(html: string, decode: (raw: string) => string) {
    super()
    this.#html = html
    this.#decode = decode
  }

  findings(): HtmlFindings {
    // To mail clients, a head that is not closed ends at the first displayed element, so its links count.
    const links = this.#headEnded ? this.#links.filter(({ inHead }) => !inHead) : this.#links
    const end = [this.#bodyEnd, this.#htmlEnd].find((place) => place !== -1) ?? this.#html.trimEnd().length
    return { links, end }
  }

  override onopentagname(start: number, end: number): void {
    const name = this.#tag(start, end)
    this.#isLink = name === 'a' || name === 'area'
    this.#off = false
    this.#href = undefined
    if (name === 'head') this.#inHead = true
    if (name === 'body') this.#endHead()
  }

  override onattribname(start: number, end: number): void {
    if (!this.#isLink) return
    this.#attribute = end - start > 32 ? '' : this.#html.slice(start, end).toLowerCase()
    if (this.#attribute === TRACKING_OFF_WITHOUT_VALUE) this.#off = true
  }

  override onattribdata(start: number, end: number): void {
    if (!this.#isLink) return
    // Of duplicate attributes the first one counts (HTML 13.2.5.33).
    if (this.#attribute === 'href') this.#href ??= { start, end }
    else if (TRACKING_OFF.includes(this.#attribute) && this.#html.slice(start, end).trim().toLowerCase() === 'off')
      this.#off = true
  }

  override onopentagend(): void {
    if (!this.#isLink || this.#off || !this.#href) return
    const { start, end } = this.#href
    const url = trackableUrl(decodeHTMLAttribute(this.#decode(this.#html.slice(start, end))))
    if (url !== undefined) this.#links.push({ start, end, url, inHead: this.#inHead })
  }

  override onselfclosingtag(): void {
    this.onopentagend()
  }

  override onclosetag(start: number, end: number): void {
    const name = this.#tag(start, end)
    if (name === 'head') this.#endHead()
    if (name === 'body') this.#bodyEnd = start - 2
    if (name === 'html') this.#htmlEnd = start - 2
  }

  #endHead(): void {
    this.#inHead = false
    this.#headEnded = true
  }

  /** Returns the tag name in lower case; empty if it is longer than the names that matter. */
  #tag(start: number, end: number): string {
    return end - start > 4 ? '' : this.#html.slice(start, end).toLowerCase()
  }
}

import { decodeHTMLAttribute } from 'entities/decode'
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { trackableUrl } from './url.ts'

/** A URL that stands in a text, and where. */
export interface LinkPlace {
  readonly start: number
  readonly end: number
  readonly url: string
}

export interface HtmlFindings {
  /** In order. */
  readonly links: readonly LinkPlace[]
  /** Where something can be put so that it is shown last. */
  readonly end: number
}

/**
 * Characters of HTML that are read for links: 30 ms of them. Readers cut mail off at a tenth of that (Gmail at 102 kB); what is
 * longer is left as it is.
 */
const LONGEST = 1024 * 1024

/** Attributes by which a sender keeps a link as it is: ours, and those of SendGrid and Postmark. */
const OFF = ['data-postrider-track', 'clicktracking']
const OFF_ALONE = 'data-pm-no-track'

/**
 * Finds the links of `<a href>` and `<area href>`, but not those in the head, in comments, scripts and styles, and not those the
 * sender switched off. Tells places in the text and never writes HTML, so that whatever is not replaced stays octet for octet.
 *
 * `decode`: what the characters of an attribute mean, where the text is octets in some charset.
 */
export function findHtmlLinks(html: string, decode: (raw: string) => string = (raw) => raw): HtmlFindings {
  if (html.length > LONGEST) return { links: [], end: endOf(html) }
  const reader = new LinkReader(html, decode)
  const tokenizer = new Tokenizer({ decodeEntities: false }, reader)
  tokenizer.write(html)
  tokenizer.end()
  return reader.findings()
}

/** Of HTML nobody reads: before the last of its closing tags. */
function endOf(html: string): number {
  const tail = html.slice(-4096).toLowerCase()
  const at =
    [tail.lastIndexOf('</body'), tail.lastIndexOf('</html')].find((place) => place !== -1) ?? tail.trimEnd().length
  return html.length - tail.length + at
}

class LinkReader implements TokenizerCallbacks {
  readonly #html: string
  readonly #decode: (raw: string) => string
  readonly #links: (LinkPlace & { inHead: boolean })[] = []
  #bodyEnd = -1
  #htmlEnd = -1
  #inHead = false
  #headEnded = false
  /** The tag being read is one whose link counts. */
  #isLink = false
  #off = false
  #attribute = ''
  #href: { start: number; end: number } | undefined

  constructor(html: string, decode: (raw: string) => string) {
    this.#html = html
    this.#decode = decode
  }

  findings(): HtmlFindings {
    // A head that never ends is not one to a reader: it ends at the first thing to be shown.
    const links = this.#headEnded ? this.#links.filter(({ inHead }) => !inHead) : this.#links
    const end = [this.#bodyEnd, this.#htmlEnd].find((place) => place !== -1) ?? this.#html.trimEnd().length
    return { links, end }
  }

  onopentagname(start: number, end: number): void {
    const name = this.#tag(start, end)
    this.#isLink = name === 'a' || name === 'area'
    this.#off = false
    this.#href = undefined
    if (name === 'head') this.#inHead = true
    if (name === 'body') this.#endHead()
  }

  onattribname(start: number, end: number): void {
    if (!this.#isLink) return
    this.#attribute = end - start > 32 ? '' : this.#html.slice(start, end).toLowerCase()
    if (this.#attribute === OFF_ALONE) this.#off = true
  }

  onattribdata(start: number, end: number): void {
    if (!this.#isLink) return
    // The first of several counts (HTML 13.2.5.33).
    if (this.#attribute === 'href') this.#href ??= { start, end }
    else if (OFF.includes(this.#attribute) && this.#html.slice(start, end).trim().toLowerCase() === 'off')
      this.#off = true
  }

  onopentagend(): void {
    if (!this.#isLink || this.#off || !this.#href) return
    const { start, end } = this.#href
    const url = trackableUrl(decodeHTMLAttribute(this.#decode(this.#html.slice(start, end))))
    if (url !== undefined) this.#links.push({ start, end, url, inHead: this.#inHead })
  }

  onselfclosingtag(): void {
    this.onopentagend()
  }

  onclosetag(start: number, end: number): void {
    const name = this.#tag(start, end)
    if (name === 'head') this.#endHead()
    if (name === 'body') this.#bodyEnd = start - 2
    if (name === 'html') this.#htmlEnd = start - 2
  }

  #endHead(): void {
    this.#inHead = false
    this.#headEnded = true
  }

  /** In lower case; the empty text for a name that is too long to matter. */
  #tag(start: number, end: number): string {
    return end - start > 4 ? '' : this.#html.slice(start, end).toLowerCase()
  }

  onattribend(): void {}
  onattribentity(): void {}
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onprocessinginstruction(): void {}
  ontext(): void {}
  ontextentity(): void {}
  isInForeignContext(): boolean {
    return false
  }
}

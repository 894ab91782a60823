import { decodeHTMLAttribute } from 'entities/decode'
import { Tokenizer } from 'htmlparser2'
import { HtmlReader } from '../plain-text/html-reader.ts'

export interface FoundLink {
  readonly url: string
  /** The words of the link, shortened. */
  readonly text: string
}

export interface HtmlFacts {
  readonly links: readonly FoundLink[]
  readonly images: number
  /** The sources of images that have no attribute `alt`. */
  readonly withoutAlt: readonly string[]
}

const MAX_FOUND = 500
const MAX_TEXT = 200

/** Reads the links and images of HTML, in linear time. What is beyond 500 of each is not listed. */
export function readHtml(html: string): HtmlFacts {
  const reader = new Reader(html)
  const tokenizer = new Tokenizer({ decodeEntities: false }, reader)
  tokenizer.write(html)
  tokenizer.end()
  return reader.facts()
}

class Reader extends HtmlReader {
  readonly #html: string
  readonly #links: { url: string; text: string }[] = []
  readonly #withoutAlt: string[] = []
  #images = 0
  #tag = ''
  #attribute = ''
  #attributes = new Map<string, string>()
  #link: { url: string; text: string } | undefined

  constructor(html: string) {
    super()
    this.#html = html
  }

  facts(): HtmlFacts {
    return { links: this.#links, images: this.#images, withoutAlt: this.#withoutAlt }
  }

  override onopentagname(start: number, end: number): void {
    this.#tag = this.#name(start, end)
    this.#attributes = new Map()
  }

  override onattribname(start: number, end: number): void {
    this.#attribute = this.#name(start, end)
    if (this.#isRead() && !this.#attributes.has(this.#attribute)) this.#attributes.set(this.#attribute, '')
  }

  override onattribdata(start: number, end: number): void {
    // Of duplicate attributes the first one counts (HTML 13.2.5.33).
    if (this.#isRead() && this.#attributes.get(this.#attribute) === '')
      this.#attributes.set(this.#attribute, decodeHTMLAttribute(this.#html.slice(start, end)).trim())
  }

  override onopentagend(): void {
    const url = this.#attributes.get('href')
    if (this.#tag === 'a' && url !== undefined) {
      this.#link = { url, text: '' }
      if (this.#links.length < MAX_FOUND) this.#links.push(this.#link)
    }
    if (this.#tag !== 'img') return
    this.#images++
    if (!this.#attributes.has('alt') && this.#withoutAlt.length < MAX_FOUND)
      this.#withoutAlt.push(this.#attributes.get('src') ?? '')
  }

  override onselfclosingtag(): void {
    this.onopentagend()
  }

  override onclosetag(start: number, end: number): void {
    if (this.#name(start, end) === 'a') this.#link = undefined
  }

  override ontext(start: number, end: number): void {
    if (this.#link && this.#link.text.length < MAX_TEXT)
      this.#link.text += this.#html.slice(start, Math.min(end, start + MAX_TEXT))
  }

  #isRead(): boolean {
    return this.#tag === 'a' || this.#tag === 'img'
  }

  /** Empty if it is longer than the names that matter. */
  #name(start: number, end: number): string {
    return end - start > 8 ? '' : this.#html.slice(start, end).toLowerCase()
  }
}

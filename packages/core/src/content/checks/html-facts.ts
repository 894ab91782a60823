import { decodeHTMLAttribute } from 'entities/decode'
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'

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

class Reader implements TokenizerCallbacks {
  readonly #html: string
  readonly #links: { url: string; text: string }[] = []
  readonly #withoutAlt: string[] = []
  #images = 0
  #tag = ''
  #attribute = ''
  #attributes = new Map<string, string>()
  #link: { url: string; text: string } | undefined

  constructor(html: string) {
    this.#html = html
  }

  facts(): HtmlFacts {
    return { links: this.#links, images: this.#images, withoutAlt: this.#withoutAlt }
  }

  onopentagname(start: number, end: number): void {
    this.#tag = this.#name(start, end)
    this.#attributes = new Map()
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#name(start, end)
    if (this.#isRead() && !this.#attributes.has(this.#attribute)) this.#attributes.set(this.#attribute, '')
  }

  onattribdata(start: number, end: number): void {
    // Of duplicate attributes the first one counts (HTML 13.2.5.33).
    if (this.#isRead() && this.#attributes.get(this.#attribute) === '')
      this.#attributes.set(this.#attribute, decodeHTMLAttribute(this.#html.slice(start, end)).trim())
  }

  onopentagend(): void {
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

  onselfclosingtag(): void {
    this.onopentagend()
  }

  onclosetag(start: number, end: number): void {
    if (this.#name(start, end) === 'a') this.#link = undefined
  }

  ontext(start: number, end: number): void {
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

  onattribend(): void {}
  onattribentity(): void {}
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onprocessinginstruction(): void {}
  ontextentity(): void {}
  isInForeignContext(): boolean {
    return false
  }
}

import { decodeHTML, decodeHTMLAttribute } from 'entities/decode'
import { Tokenizer } from 'htmlparser2'
import type { Stoppable } from '../../platform/concurrency/turns.ts'
import {
  ELEMENTS,
  type ElementKind,
  isClosed,
  MAX_NAME,
  TRACKING_OFF,
  TRACKING_OFF_WITHOUT_VALUE,
  VOID,
} from './elements.ts'
import { HtmlReader } from './html-reader.ts'
import { LinkText } from './link-text.ts'
import { OpenElement } from './open-element.ts'
import { shownUrl } from './shown-url.ts'
import { Structure } from './structure.ts'
import { NO_STYLE, type Style, styleOf } from './style.ts'
import { StyledElements } from './styled-elements.ts'
import { TextWriter } from './text-writer.ts'

/** Plain text that was generated from HTML. */
export interface GeneratedText {
  /** Empty if the HTML shows no words. */
  readonly text: string
  /** URLs in it for whose links the sender disabled tracking. */
  readonly untracked: ReadonlySet<string>
}

/**
 * Generates plain text that can be read: cells are a blank apart, rows are lines, links follow their words in brackets, lists have marks and
 * quotations `> `, and what mail programs do not show is left out. Lines are not wrapped. Takes linear time, 256 kB some 10 ms, however the elements
 * are nested; a text of more than 1 MiB is cut.
 */
export function* generateText(html: string): Stoppable<GeneratedText> {
  const reader = new TextReader(html)
  const tokenizer = new Tokenizer({ decodeEntities: false }, reader)
  for (let at = 0; at < html.length && !reader.isFull; at += STEP) {
    tokenizer.write(html.slice(at, at + STEP))
    yield
  }
  tokenizer.end()
  return reader.finish()
}

/** Characters that are read without yielding. */
const STEP = 4096
/** Characters of text that are written at once, and those of the longest character reference (HTML 13.5). */
const MAX_PIECE = 64 * 1024
const MAX_REFERENCE = 34
/** White space that differs from one blank. */
const SPACING = /[\n\t]| {2}/
const RULE = '-'.repeat(10)

class TextReader extends HtmlReader {
  readonly #html: string
  readonly #writer = new TextWriter()
  readonly #untracked = new Set<string>()
  readonly #link = new LinkText(this.#writer)
  readonly #structure = new Structure(this.#writer, this.#link)
  readonly #styled = new StyledElements()
  #hidden: OpenElement | undefined
  /** Offset after the last end of an edit. */
  #editEnd = -1
  /** Open quotations. */
  #quotations = 0
  #nameStart = 0
  #isPreBegun = false
  #name = ''
  #kind: ElementKind | undefined
  #textStart = 0
  #textEnd = 0
  #attribute = ''
  #dataStart = 0
  #dataEnd = 0
  #isHidden = false
  #style: Style = NO_STYLE
  #isUntracked = false
  /** The value of the attribute that matters for this element. */
  #value: string | undefined

  constructor(html: string) {
    super()
    this.#html = html
  }

  /** Whether the text has its maximum length. */
  get isFull(): boolean {
    return this.#writer.isFull
  }

  finish(): GeneratedText {
    this.#writeText()
    this.#link.end()
    return { text: this.#writer.toString(), untracked: this.#untracked }
  }

  override ontext(start: number, end: number): void {
    if (this.#hidden) return
    // Text comes in pieces, which end anywhere.
    if (start !== this.#textEnd) {
      this.#writeText()
      this.#textStart = start
    }
    this.#textEnd = end
    if (end - this.#textStart >= MAX_PIECE) this.#writeText(this.#endOfPiece())
  }

  /** Returns the end of a long piece of text, which is not within a character reference. */
  #endOfPiece(): number {
    const reference = this.#html.slice(this.#textEnd - MAX_REFERENCE, this.#textEnd).lastIndexOf('&')
    return reference === -1 ? this.#textEnd : this.#textEnd - MAX_REFERENCE + reference
  }

  #writeText(end = this.#textEnd): void {
    if (this.#textStart === end) return
    const raw = this.#html.slice(this.#textStart, end)
    this.#textStart = end
    const text = raw.includes('&') ? decodeHTML(raw) : raw
    // HTML 13.2.6.4.7: a line end directly after the start tag does not count.
    if (this.#styled.isTiny) {
      if (!/\S/.test(text)) this.#writer.text(text)
    } else if (this.#structure.isPreformatted)
      this.#writer.preformatted(this.#isPreBegun ? text.replace(/^\r?\n/, '') : text)
    else if (this.#styled.space === 'pre' && SPACING.test(text)) this.#writer.preformatted(text)
    else if (this.#styled.space === 'pre-line') this.#writer.keepingLines(text)
    else this.#writer.text(text)
    this.#isPreBegun = false
  }

  override onopentagname(start: number, end: number): void {
    this.#name = this.#nameAt(start, end)
    this.#kind = ELEMENTS.get(this.#name)
    this.#nameStart = start
    this.#isHidden = false
    this.#style = NO_STYLE
    this.#isUntracked = false
    this.#value = undefined
  }

  override onattribname(start: number, end: number): void {
    this.#attribute = end - start > 32 || this.#hidden ? '' : this.#html.slice(start, end).toLowerCase()
    this.#dataEnd = -1
    if (this.#attribute === 'hidden') this.#isHidden = true
    if (this.#attribute === TRACKING_OFF_WITHOUT_VALUE) this.#isUntracked = true
  }

  override onattribdata(start: number, end: number): void {
    if (this.#dataEnd === -1) this.#dataStart = start
    this.#dataEnd = end
  }

  override onattribend(): void {
    const name = this.#attribute
    if (name === '' || this.#dataEnd === -1) return
    if (name === 'style') this.#style = styleOf(this.#data())
    // Of duplicate attributes the first one counts (HTML 13.2.5.33).
    else if (name === 'href' || name === 'alt' || name === 'start') this.#value ??= this.#data()
    else if (TRACKING_OFF.includes(name)) this.#isUntracked ||= this.#data().trim().toLowerCase() === 'off'
  }

  override onopentagend(): void {
    this.#writeText()
    const isVoid = VOID.has(this.#name)
    if (this.#hidden) {
      if (isVoid || !this.#hidden.isEndedBy(this.#name, this.#kind)) {
        if (!isVoid) this.#hidden.open(this.#name)
        return
      }
      this.#hidden = undefined
    }
    const kind = this.#kind
    if (!isVoid) this.#styled.begin(this.#name, kind, this.#style)
    if (kind) this.#structure.endImplied(kind)
    if (this.#isHidden || this.#style.isHiding || kind?.role === 'skipped') {
      if (!isVoid) this.#hidden = new OpenElement(this.#name)
      return
    }
    if (kind) this.#begin(kind)
  }

  override onselfclosingtag(): void {
    this.onopentagend()
  }

  override onclosetag(start: number, end: number): void {
    this.#writeText()
    const name = this.#nameAt(start, end)
    const kind = ELEMENTS.get(name)
    if (this.#hidden) {
      const ended = this.#hidden.close(name, kind)
      if (ended === 'no') return
      this.#hidden = undefined
      if (ended === 'own') {
        this.#styled.end(name, kind)
        return
      }
    }
    if (kind?.role === 'words' && this.#quotations > 0) {
      this.#quotations--
      this.#quote()
    }
    this.#styled.end(name, kind)
    if (!kind) return
    if (kind.role === 'edit') this.#editEnd = end + '>'.length
    if (kind.role === 'link') this.#link.end()
    if (isClosed(kind)) this.#structure.close(name, kind.role)
    if (kind.role !== 'skipped') this.#writer.break(this.#structure.breaksOf(kind))
  }

  #begin(kind: ElementKind): void {
    const writer = this.#writer
    writer.break(this.#structure.breaksOf(kind))
    if (isClosed(kind)) {
      this.#structure.open(this.#name, kind.role, this.#value)
      this.#isPreBegun = kind.role === 'pre'
    } else if (kind.role === 'break') writer.endLine()
    else if (kind.role === 'rule') {
      writer.text(RULE)
      writer.break(2)
    } else if (kind.role === 'image') {
      if (this.#value) writer.text(` ${this.#value} `)
    } else if (kind.role === 'link') this.#beginLink()
    // The old word and the new one.
    else if (kind.role === 'edit' && this.#nameStart - '<'.length === this.#editEnd) writer.text(' ')
    else if (kind.role === 'words') {
      this.#quote()
      this.#quotations++
    }
  }

  /** Writes the mark of a quotation, or of one within another. */
  #quote(): void {
    if (!this.#styled.isTiny) this.#writer.text(this.#quotations % 2 === 0 ? '"' : "'")
  }

  #beginLink(): void {
    const url = shownUrl(this.#value ?? '')
    if (url === '') return
    if (this.#isUntracked) this.#untracked.add(url)
    this.#link.begin(url)
  }

  #data(): string {
    const raw = this.#html.slice(this.#dataStart, this.#dataEnd)
    return raw.includes('&') ? decodeHTMLAttribute(raw) : raw
  }

  #nameAt(start: number, end: number): string {
    return end - start > MAX_NAME ? '' : this.#html.slice(start, end).toLowerCase()
  }
}

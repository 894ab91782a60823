import { type Charset, charsetOf, UTF_8 } from '../mime/charset.ts'
import { parameterText } from '../mime/parameters.ts'
import { findTexts, type TextPart } from '../mime/read.ts'
import { decodeTransfer, type TransferEncoding, transferEncodingOf } from '../mime/transfer.ts'
import { isListUnsubscribe } from '../submission/header-rules.ts'
import { type Footer, unsubscribeTextsOf } from './added-content.ts'
import { type AddTo, planOptions } from './adder.ts'
import { declareUtf8 } from './links/html-charset.ts'
import { type Plan, type PlanOptions, planHtml, planText } from './links/plan.ts'

/** A text part of a MIME message with the plan of what is added to it. The plan's text has one character per byte. */
export interface PlannedText {
  readonly part: TextPart
  readonly plan: Plan
  readonly encoding: TransferEncoding
  /** Whether the part is converted to UTF-8: its charset is no superset of ASCII, or lacks characters of the footer. */
  readonly becomesUtf8: boolean
}

export interface MimePlan {
  readonly texts: readonly PlannedText[]
  /** Position of List-Unsubscribe, after the trace field of this service. Undefined if the message has its own. */
  readonly listAt: number | undefined
  /** Why nothing is added to a text although it was requested. */
  readonly notes: readonly string[]
}

/** Returns what is added to a MIME message. `storedFooter` is part 1 of its body. */
export function planMime(octets: Buffer, storedFooter: Buffer | undefined, to: AddTo): MimePlan {
  const footer: Footer = storedFooter ? (JSON.parse(storedFooter.toString()) as Footer) : {}
  const { texts, closed } = findTexts(octets)
  const notes: string[] = []
  const planned: PlannedText[] = []
  for (const part of texts) {
    const text = planPart(octets, part, footer, to)
    if (typeof text === 'object') planned.push(text)
    else if (text !== undefined && isWanted(part, footer, to)) notes.push(`nothing added to ${part.type}: ${text}`)
  }
  if (texts.length === 0) {
    notes.push(
      closed === undefined
        ? 'nothing added: the message has no text that can be changed'
        : `nothing added to the text: ${closed} must not be changed`,
    )
  }
  return { texts: planned, listAt: hasListUnsubscribe(octets) ? undefined : endOfFirstField(octets), notes }
}

/** Whether something would be added to the part, apart from links that it may have. */
function isWanted({ type }: TextPart, footer: Footer, { additions }: AddTo): boolean {
  const { unsubscribe, openTracking, clickTracking, clickTrackingInText, linkParameters } = additions
  if (unsubscribe || (clickTracking && (type === 'text/html' || clickTrackingInText !== false))) return true
  return type === 'text/html' ? Boolean(openTracking || linkParameters || footer.html) : Boolean(footer.text)
}

/** Returns the reason if the part must stay as it is, or undefined if there is nothing to add to it. */
function planPart(octets: Buffer, part: TextPart, footer: Footer, to: AddTo): PlannedText | string | undefined {
  const { type, parameters, bodyStart, bodyEnd } = part
  const encoding = transferEncodingOf(part.encoding)
  if (!encoding) return 'unknown transfer encoding'
  // With DelSp=yes a URL may continue on the next line (RFC 3676 4.5).
  if (parameters.get('delsp')?.toLowerCase() === 'yes') return 'its lines continue on the next one (DelSp)'
  const stored = decodeTransfer(octets.subarray(bodyStart, bodyEnd), encoding)?.toString('latin1')
  if (stored === undefined) return `not valid ${encoding}`
  const name = charsetName(part)
  const charset = name === undefined ? undefined : charsetOf(name, stored)
  if (!charset) return `unknown charset${shown(name)}`
  const texts = unsubscribeTextsOf(to.additions)
  const words =
    type === 'text/html' ? { text: footer.html, sentence: texts?.html } : { text: footer.text, sentence: texts?.text }
  const write = (text: string, { encode }: Charset) => (type === 'text/html' ? asciiHtml(text) : encode(text))
  const isWritable = [words.text, words.sentence].every(
    (text) => text === undefined || write(text, charset) !== undefined,
  )
  const becomesUtf8 = !charset.isAsciiBased || !isWritable
  const text = becomesUtf8 ? charset.toUtf8(stored) : stored
  if (text === undefined) return `does not decode without loss from${shown(name)}`
  // Text that is signed or encrypted inline (RFC 4880 6.2) must not be changed.
  if (text.includes('-----BEGIN PGP ')) return 'signed or encrypted by PGP'
  const as = becomesUtf8 ? UTF_8 : charset
  const added = { text: words.text && write(words.text, as), sentence: words.sentence && write(words.sentence, as) }
  const options = { ...optionsIn(added, to, as.encode), decode: as.decode }
  const html = becomesUtf8 ? declareUtf8 : (text: string) => text
  const plan = type === 'text/html' ? planHtml(html(text), options) : planText(text, options)
  return plan && { part, plan, encoding, becomesUtf8 }
}

const CHARSETS = /;[ \t]*charset(?:\*0?\*?)?[ \t]*=[ \t]*("[^"]*"|[^\s;"]+)/gi

/** Returns the name of the part's charset; empty if it has none, undefined if it has several. */
function charsetName({ fields, parameters }: TextPart): string | undefined {
  const type = fields.find(({ name }) => name === 'content-type')?.value ?? ''
  const names = new Set([...type.matchAll(CHARSETS)].map(([, name = '']) => name.toLowerCase()))
  return names.size > 1 ? undefined : (parameterText(parameters, 'charset') ?? '')
}

/** Returns a charset's name for a note, unless it may be any text. */
function shown(name: string | undefined): string {
  return name !== undefined && /^[\w.:+-]{1,40}$/.test(name) ? ` ${name}` : ''
}

/** Plan options for a text with one character per byte: added texts and tags have one character per byte too. */
function optionsIn(
  { text, sentence }: { text: string | undefined; sentence: string | undefined },
  to: AddTo,
  encode: (text: string) => string | undefined,
): PlanOptions {
  const { openTag, unsubscribeTexts: texts } = to.additions
  return {
    ...planOptions(to, text),
    openTag: openTag && encode(openTag),
    unsubscribeTag: texts?.tag && encode(texts.tag),
    unsubscribeTexts: sentence ? { text: sentence, html: sentence } : undefined,
  }
}

/** Returns HTML in ASCII, which is valid in every charset. */
function asciiHtml(html: string): string {
  return html.replace(/[^\x00-\x7f]/gu, (letter) => `&#${letter.codePointAt(0)};`)
}

function hasListUnsubscribe(octets: Buffer): boolean {
  const end = octets.indexOf('\r\n\r\n')
  const head = octets.toString('latin1', 0, end === -1 ? octets.length : end)
  return head.split('\r\n').some((line) => isListUnsubscribe(line.slice(0, Math.max(0, line.indexOf(':'))).trimEnd()))
}

/** Returns the end of the Received field that this service added when it accepted the message. */
function endOfFirstField(octets: Buffer): number {
  let end = 0
  do {
    end = octets.indexOf('\r\n', end) + 2
  } while (octets[end] === 32 || octets[end] === 9)
  return end
}

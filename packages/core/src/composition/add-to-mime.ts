import { charsetOf } from '../mime/charset.ts'
import { findTexts, type TextPart } from '../mime/read.ts'
import { decodeTransfer, encodeTransfer, type TransferEncoding, transferEncodingOf } from '../mime/transfer.ts'
import { type Footer, unsubscribeTextsOf } from './added-content.ts'
import { type AddTo, planOptions } from './adder.ts'
import { isListUnsubscribe, listUnsubscribe } from './compose.ts'
import { fillHtml, fillText } from './links/fill-plan.ts'
import { type Plan, type PlanOptions, planHtml, planText } from './links/plan.ts'

/** A text part of a MIME message with the plan of what is added to it. The plan's text has one character per byte. */
interface PlannedText {
  readonly part: TextPart
  readonly plan: Plan
  readonly encoding: TransferEncoding
  /** Whether the part is converted to UTF-8, because the footer has characters that the part's charset lacks. */
  readonly becomesUtf8: boolean
}

interface MimePlan {
  readonly texts: readonly PlannedText[]
  /** Position of List-Unsubscribe, after the trace field of this service. Undefined if the message has its own. */
  readonly listAt: number | undefined
}

/** Plans by the parts of a loaded message. */
const plans = new WeakMap<ReadonlyMap<number, Buffer>, MimePlan>()

/**
 * Returns one recipient's copy of a MIME message with its added content. The first plain text and the first HTML part are decoded,
 * extended and encoded again; every other byte is unchanged. If there is nothing to add, returns the stored buffer itself.
 */
export function addToMime(parts: ReadonlyMap<number, Buffer>, to: AddTo): Buffer {
  const octets = parts.get(0) as Buffer
  let plan = plans.get(parts)
  if (!plan) plans.set(parts, (plan = planOf(octets, footerOf(parts), to)))
  const unsubscribes = to.additions.unsubscribe && plan.listAt !== undefined
  if (plan.texts.length === 0 && !unsubscribes) return octets
  const out: Buffer[] = []
  let at = 0
  let link = 0
  if (unsubscribes) {
    out.push(octets.subarray(0, plan.listAt), Buffer.from(listUnsubscribe(to.links.unsubscribe())))
    at = plan.listAt as number
  }
  for (const text of plan.texts) {
    at = writeText(out, { octets, at, text, to, link })
    link += text.plan.links
  }
  out.push(octets.subarray(at))
  return Buffer.concat(out)
}

function footerOf(parts: ReadonlyMap<number, Buffer>): Footer {
  const stored = parts.get(1)
  return stored ? (JSON.parse(stored.toString()) as Footer) : {}
}

function planOf(octets: Buffer, footer: Footer, to: AddTo): MimePlan {
  const texts = findTexts(octets)
    .map((part) => planPart(octets, part, footer, to))
    .filter((text) => text !== undefined)
  return { texts, listAt: hasListUnsubscribe(octets) ? undefined : endOfFirstField(octets) }
}

function planPart(octets: Buffer, part: TextPart, footer: Footer, to: AddTo): PlannedText | undefined {
  const { type, parameters, bodyStart, bodyEnd } = part
  const encoding = transferEncodingOf(part.encoding)
  // With DelSp=yes a URL may continue on the next line (RFC 3676 4.5).
  if (!encoding || parameters.has('charset*') || parameters.get('delsp')?.toLowerCase() === 'yes') return undefined
  const decoded = decodeTransfer(octets.subarray(bodyStart, bodyEnd), encoding)
  const text = decoded?.toString('latin1')
  // Text that is signed or encrypted inline (RFC 4880 6.2) must not be changed.
  if (text === undefined || text.includes('-----BEGIN PGP ')) return undefined
  const charset = charsetOf(parameters.get('charset') ?? '', text)
  if (!charset) return undefined
  const { decode, encode } = charset
  const texts = unsubscribeTextsOf(to.additions)
  if (type === 'text/html') {
    const html = { text: footer.html && asciiHtml(footer.html), sentence: texts?.html && asciiHtml(texts.html) }
    const plan = planHtml(text, { ...optionsIn(html, to, encode), decode })
    return plan && { part, plan, encoding, becomesUtf8: false }
  }
  const becomesUtf8 = [footer.text, texts?.text].some((words) => words !== undefined && encode(words) === undefined)
  const write = becomesUtf8 ? latin1 : encode
  const words = { text: footer.text && write(footer.text), sentence: texts?.text && write(texts.text) }
  const own = becomesUtf8 ? latin1(decode(text)) : text
  const plan = planText(own, { ...optionsIn(words, to, write), ...(becomesUtf8 ? {} : { decode }) })
  return plan && { part, plan, encoding, becomesUtf8 }
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

/** Returns the text in UTF-8, one character per byte. */
function latin1(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** Returns HTML in ASCII, which is valid in every charset. */
function asciiHtml(html: string): string {
  return html.replace(/[^\x00-\x7f]/gu, (letter) => `&#${letter.codePointAt(0)};`)
}

/** Writes the message up to the end of the text part. Returns the position after it. */
function writeText(
  out: Buffer[],
  { octets, at, text, to, link }: { octets: Buffer; at: number; text: PlannedText; to: AddTo; link: number },
): number {
  const { part, plan, encoding, becomesUtf8 } = text
  const filled = part.type === 'text/html' ? fillHtml(plan, to.links, link) : fillText(plan, to.links, link)
  const encoded = encodeTransfer(filled, encoding, { sevenBit: part.encoding === '' || part.encoding === '7bit' })
  const fields = new Map<string, string>()
  if (encoded.encoding !== encoding)
    fields.set('content-transfer-encoding', `Content-Transfer-Encoding: ${encoded.encoding}\r\n`)
  if (becomesUtf8) fields.set('content-type', utf8Type(part))
  let from = at
  for (const field of part.fields) {
    const changed = fields.get(field.name)
    if (changed === undefined) continue
    out.push(octets.subarray(from, field.start), Buffer.from(changed))
    fields.delete(field.name)
    from = field.end
  }
  out.push(octets.subarray(from, part.headEnd), Buffer.from([...fields.values()].join('')))
  out.push(octets.subarray(part.headEnd, part.bodyStart), encoded.octets)
  // A message ends with CRLF; within a multipart the CRLF belongs to the delimiter.
  if (part.bodyEnd === octets.length && !encoded.octets.subarray(-2).equals(CRLF)) out.push(CRLF)
  return part.bodyEnd
}

const CRLF = Buffer.from('\r\n')

function utf8Type({ type, parameters }: TextPart): string {
  const format = parameters.get('format')?.toLowerCase() === 'flowed' ? '; format=flowed' : ''
  return `Content-Type: ${type}; charset=utf-8${format}\r\n`
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

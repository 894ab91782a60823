import type { GeneratedText } from '../content/plain-text/html-text.ts'
import { isAscii } from '../mime/charset.ts'
import { asciiField } from '../mime/conformance/ascii-field.ts'
import { contentIdsIn } from '../mime/content-id.ts'
import { type Mailbox, mailboxField, ownField, rawField, textField } from '../mime/header.ts'
import { type FilePart, filePart, multipart, textPart } from '../mime/parts.ts'
import { defined } from '../platform/defined.ts'
import { release } from '../platform/process/release.ts'
import { isListUnsubscribe } from '../submission/header-rules.ts'
import { Adder, type AddTo, type PlanCache } from './adder.ts'
import type { ContentDocument } from './content.ts'
import { replaceTags } from './links/plan.ts'
import { type Attributes, renderMergeTags, withDefaults, withUnsubscribe } from './merge.ts'
import { listOf, type RecipientData, type VisibleList } from './recipient-data.ts'
import { generatedFor } from './recipient-texts.ts'

export interface Composition {
  /** 32 hex digits. */
  readonly messageId: string
  readonly recipientNo: number
  readonly recipient: string
  /** Time when the message was accepted, so that a retry sends the same Date. */
  readonly acceptedAt: Date
  readonly content: ContentDocument
  readonly personal: RecipientData | null
  /** The contents of the attachments, by part number. */
  readonly parts: ReadonlyMap<number, Buffer>
  /** Undefined if nothing is added to this message. */
  readonly addTo: AddTo | undefined
}

/** A field of the sender's: what is not ASCII in it as its syntax permits, or else as encoded words. */
function customField(name: string, value: string): string {
  const written = isAscii(value) ? undefined : asciiField(Buffer.from(`${name}: ${value}`).toString('latin1'))
  return written ?? ownField(name, value)
}

/**
 * Builds the MIME message of one delivery. Every attempt of a delivery gets the same bytes, including Message-ID, Date and
 * boundaries (P3), and all copies of one envelope share these.
 */
export function composeMessage(composition: Composition): Buffer {
  const { content, personal, recipient, messageId, recipientNo } = composition
  const attributes = withDefaults(personal?.attributes ?? {}, content.defaults)
  const id = `${messageId}.${personal?.envelope ?? recipientNo}`
  const merge = (text: string, values = attributes): string => (content.literal ? text : renderMergeTags(text, values))
  const from = personal?.from ?? content.from
  const sender: Mailbox = { name: merge(from.name), address: from.email }
  const domain = sender.address.slice(sender.address.lastIndexOf('@') + 1)

  let head = mailboxField('From', [sender])
  if (content.sender) head += mailboxField('Sender', [{ name: content.sender.name, address: content.sender.email }])
  head += recipientFields(listOf(content, personal) ?? { to: [recipient], ...defined({ names: personal?.names }) })
  const replyTo = replyToOf(content)
  if (replyTo.length > 0) head += mailboxField('Reply-To', replyTo)
  head += textField('Subject', merge(personal?.subject ?? content.subject))
  head += rawField('Date', messageDate(content.date ? new Date(content.date) : composition.acceptedAt))
  head += rawField('Message-ID', personal?.messageId ?? `<${id}@${domain}>`)
  const unsubscribe = composition.addTo?.additions.unsubscribe ? composition.addTo.links.unsubscribe() : undefined
  const own = Object.entries({ ...content.headers, ...personal?.headers })
  // If the sender sets one of the two fields, neither is added.
  if (unsubscribe && !own.some(([name]) => isListUnsubscribe(name))) head += listUnsubscribe(unsubscribe)
  const values = unsubscribe && own.length > 0 ? withUnsubscribe(attributes, unsubscribe) : attributes
  for (const [name, value] of own) head += customField(name, merge(value, values))
  head += 'MIME-Version: 1.0\r\n'
  const body = bodyOf(composition, id, attributes)
  const message = Buffer.concat([Buffer.from(head), ...body])
  // The attachments were encoded for this copy only.
  body.forEach(release)
  return message
}

/** The fields of lists that copies share: 1,000 names take as long as the rest of ten copies. */
const written = new WeakMap<VisibleList, string>()

function recipientFields(list: VisibleList): string {
  const { to, cc = [], names } = list
  const known = written.get(list)
  if (known !== undefined) return known
  const named = (address: string): Mailbox => ({ name: names?.[address] ?? '', address })
  // If the To list has no valid address, its cc and bcc recipients still get the message, and an empty To is invalid
  // (RFC 5322 3.6.3).
  const fields =
    (to.length > 0 ? mailboxField('To', to.map(named)) : '') + (cc.length > 0 ? mailboxField('Cc', cc.map(named)) : '')
  written.set(list, fields)
  return fields
}

/** Returns the fields of one-click unsubscription (RFC 8058), which needs both. DKIM signs them. */
export function listUnsubscribe(url: string): string {
  return `List-Unsubscribe: <${url}>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n`
}

/** Returns a date as in RFC 5322 3.3, in UTC. */
export function messageDate(at: Date): string {
  return at.toUTCString().replace('GMT', '+0000')
}

function replyToOf({ replyTo, replyToList }: ContentDocument): readonly Mailbox[] {
  if (replyToList) return replyToList.map(({ email, name }) => ({ name, address: email }))
  return replyTo ? [{ name: '', address: replyTo }] : []
}

const plans = new WeakMap<ContentDocument, PlanCache>()

function adderFor({ content, addTo }: Composition): Adder | undefined {
  if (!addTo) return undefined
  let cache = plans.get(content)
  if (!cache) plans.set(content, (cache = {}))
  const literal = content.literal && { text: true, footer: content.footer?.literal === true }
  const { links } = addTo
  const unsubscribeLinks = content.unsubscribeTags
    ? [links.unsubscribe(), links.unsubscribeFromAll(), links.preferences()]
    : []
  return new Adder(addTo, cache, { literal, unsubscribeLinks })
}

interface ComposedText {
  readonly type: string
  readonly text: string
}

/** Returns the texts in the order of their parts (RFC 2046 5.1.4: the best alternative last). */
function textsOf(composition: Composition, attributes: Attributes): ComposedText[] {
  const { content, addTo } = composition
  const adder = adderFor(composition)
  const unsubscribe = addTo?.additions.unsubscribe === true
  const values = unsubscribe ? withUnsubscribe(attributes) : attributes
  const merge = (text: string): string => (content.literal ? text : renderMergeTags(text, values))
  const footerOf = (kind: 'text' | 'html'): string | undefined => {
    const stored = content.footer?.[kind]
    // The account's footer uses merge tags, even if they are disabled for the message.
    return stored === undefined || content.footer?.literal ? stored : renderMergeTags(stored, values)
  }
  const addText = ({ text, untracked }: Partial<GeneratedText>): string | undefined =>
    text !== undefined && adder ? adder.text(text, footerOf('text'), untracked) : text
  const own = content.text === undefined ? undefined : addText({ text: merge(content.text) })
  const html = content.html === undefined ? undefined : merge(content.html)
  const shown = html !== undefined && adder ? adder.html(html, footerOf('html')) : html
  // After the HTML, whose links have the same numbers with and without it.
  const text = own ?? (content.generateText && html !== undefined ? addText(generatedFor(content, html)) : undefined)
  const texts: ComposedText[] = []
  if (text !== undefined) texts.push({ type: 'text/plain', text })
  // AMP precedes HTML; otherwise mail clients without AMP would show it. Nothing is added to it, because clients do not show a
  // document that is not strictly valid AMP.
  if (content.amp !== undefined)
    texts.push({ type: 'text/x-amp-html', text: ampOf(content.amp, composition, attributes) })
  if (shown !== undefined) texts.push({ type: 'text/html', text: shown })
  return [...texts, ...(content.alternatives ?? [])]
}

function ampOf(amp: string, { content, addTo }: Composition, attributes: Attributes): string {
  const url = addTo?.additions.unsubscribe ? addTo.links.unsubscribe() : undefined
  if (!content.literal) return renderMergeTags(amp, url === undefined ? attributes : withUnsubscribe(attributes, url))
  const tag = addTo?.additions.unsubscribeTexts?.tag
  return url !== undefined && tag ? replaceTags(amp, tag, url) : amp
}

function bodyOf(composition: Composition, id: string, attributes: Attributes): Buffer[] {
  const texts = textsOf(composition, attributes)
  const files = filesOf(composition)
  const html = texts.find(({ type }) => type === 'text/html')
  // Inline files that the HTML refers to go into its multipart/related (RFC 2387); other inline files stay among the attachments.
  const shown = html ? shownIn(html.text, files) : []
  const parts = texts.map((text) => {
    const own = [Buffer.from(textPart(text.type, text.text))]
    return text === html && shown.length > 0 ? multipart('related', `r.${id}`, [own, ...shown.map(filePart)]) : own
  })
  const [first = [Buffer.from(textPart('text/plain', ''))]] = parts
  const readable = parts.length > 1 ? multipart('alternative', `a.${id}`, parts) : first
  const related = new Set(shown)
  const others = files.filter((file) => !related.has(file))
  return others.length === 0 ? readable : multipart('mixed', `m.${id}`, [readable, ...others.map(filePart)])
}

function shownIn(html: string, files: readonly FilePart[]): FilePart[] {
  const inline = files.filter(({ inline, contentId }) => inline && contentId !== undefined)
  if (inline.length === 0) return inline
  const ids = contentIdsIn(html)
  return inline.filter(({ contentId = '' }) => ids.has(contentId.toLowerCase()))
}

function filesOf({ content, personal, parts }: Composition): FilePart[] {
  const { attachments = [], files = {}, fileHeads = {} } = content
  return [...attachments, ...(personal?.attachments ?? [])].map((part) => ({
    fileName: files[part] ?? `attachment-${part}`,
    octets: parts.get(part),
    ...fileHeads[part],
  }))
}

import mimeTypes from 'mime-types'
import { Adder, type AddTo, type PlanCache } from './adder.ts'
import type { ContentDocument } from './content.ts'
import { type Attributes, renderMergeTags, withDefaults, withUnsubscribe } from './merge.ts'
import { base64Lines, encodeText } from './mime/encode.ts'
import { fileNameParameter, type Mailbox, mailboxField, rawField, textField } from './mime/header.ts'
import type { Personal } from './personal.ts'

export interface Composition {
  /** 32 hex digits. */
  readonly messageId: string
  readonly recipientNo: number
  readonly recipient: string
  /** The moment of accept: a retry sends the same Date. */
  readonly acceptedAt: Date
  readonly content: ContentDocument
  readonly personal: Personal | null
  /** The attachments' octets, by part. */
  readonly parts: ReadonlyMap<number, Buffer>
  /** Undefined: nothing is added to this message. */
  readonly addTo: AddTo | undefined
}

/**
 * Builds the MIME message of one delivery. Deterministic: the same delivery gives the same octets at every attempt, with
 * the same Message-ID, Date and boundaries (P3), and all copies of one envelope share them.
 */
export function composeMessage(composition: Composition): Buffer {
  const { content, personal, recipient, messageId, recipientNo } = composition
  const attributes = withDefaults(personal?.attributes ?? {}, content.defaults)
  const id = `${messageId}.${personal?.envelope ?? recipientNo}`
  const sender: Mailbox = { name: renderMergeTags(content.from.name, attributes), address: content.from.email }
  const domain = sender.address.slice(sender.address.lastIndexOf('@') + 1)

  let head = mailboxField('From', [sender])
  head += mailboxField('To', (personal?.to ?? [recipient]).map(bare))
  if (personal?.cc?.length) head += mailboxField('Cc', personal.cc.map(bare))
  if (content.replyTo) head += mailboxField('Reply-To', [bare(content.replyTo)])
  head += textField('Subject', renderMergeTags(content.subject, attributes))
  head += rawField('Date', messageDate(content.date ? new Date(content.date) : composition.acceptedAt))
  head += rawField('Message-ID', personal?.messageId ?? `<${id}@${domain}>`)
  const unsubscribe = composition.addTo?.additions.unsubscribe ? composition.addTo.links.unsubscribe() : undefined
  const own = Object.entries(personal?.headers ?? {})
  if (unsubscribe && !own.some(([name]) => isListUnsubscribe(name))) head += listUnsubscribe(unsubscribe)
  const values = unsubscribe && own.length > 0 ? withUnsubscribe(attributes, unsubscribe) : attributes
  for (const [name, value] of own) head += textField(name, renderMergeTags(value, values))
  head += 'MIME-Version: 1.0\r\n'
  return Buffer.concat([Buffer.from(head), ...bodyOf(composition, id, attributes)])
}

/** One-click unsubscription (RFC 8058): both fields or neither. DKIM signs them. */
export function listUnsubscribe(url: string): string {
  return `List-Unsubscribe: <${url}>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n`
}

/** Whoever writes one of them himself has his own way, and we add none. */
export function isListUnsubscribe(name: string): boolean {
  return /^list-unsubscribe(-post)?$/i.test(name)
}

/** RFC 5322 3.3, in UTC. */
export function messageDate(at: Date): string {
  return at.toUTCString().replace('GMT', '+0000')
}

function bare(address: string): Mailbox {
  return { name: '', address }
}

const plans = new WeakMap<ContentDocument, PlanCache>()

function adderFor({ content, addTo }: Composition): Adder | undefined {
  if (!addTo) return undefined
  let cache = plans.get(content)
  if (!cache) plans.set(content, (cache = {}))
  return new Adder(addTo, cache)
}

/** The texts in the order they stand (RFC 2046 5.1.4: the best alternative last). */
function textsOf(composition: Composition, attributes: Attributes): string[] {
  const { content, addTo } = composition
  const adder = adderFor(composition)
  const unsubscribe = addTo?.additions.unsubscribe === true
  const values = unsubscribe ? withUnsubscribe(attributes) : attributes
  const merge = (text: string): string => renderMergeTags(text, values)
  const add = (kind: 'text' | 'html'): string => {
    const footer = content.footer?.[kind]
    const text = merge(content[kind] ?? '')
    return adder ? adder[kind](text, footer === undefined ? undefined : merge(footer)) : text
  }
  const texts: string[] = []
  if (content.text !== undefined) texts.push(textPart('text/plain', add('text')))
  // AMP goes before HTML, or readers without AMP would show it. Nothing is added to it: what is not valid AMP to the letter is not
  // shown at all.
  if (content.amp !== undefined) {
    const given = unsubscribe ? withUnsubscribe(attributes, addTo.links.unsubscribe()) : attributes
    texts.push(textPart('text/x-amp-html', renderMergeTags(content.amp, given)))
  }
  if (content.html !== undefined) texts.push(textPart('text/html', add('html')))
  return texts
}

function bodyOf(composition: Composition, id: string, attributes: Attributes): Buffer[] {
  const { content, personal, parts } = composition
  const texts = textsOf(composition, attributes)
  const [first = textPart('text/plain', '')] = texts
  const readable =
    texts.length > 1
      ? multipart(
          'alternative',
          `a.${id}`,
          texts.map((text) => [Buffer.from(text)]),
        )
      : [Buffer.from(first)]
  const files = [...(content.attachments ?? []), ...(personal?.attachments ?? [])]
  if (files.length === 0) return readable
  return multipart('mixed', `m.${id}`, [
    readable,
    ...files.map((part) => filePart(content.files?.[part] ?? `attachment-${part}`, parts.get(part))),
  ])
}

function textPart(type: string, text: string): string {
  const encoded = encodeText(text)
  return `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: ${encoded.encoding}\r\n\r\n${encoded.text}`
}

function filePart(fileName: string, octets: Buffer | undefined): Buffer[] {
  if (!octets) throw new Error('an attachment of the message is missing')
  const type = mimeTypes.lookup(fileName) || 'application/octet-stream'
  const head =
    `Content-Type: ${type};\r\n ${fileNameParameter('name', fileName)}\r\nContent-Transfer-Encoding: base64\r\n` +
    `Content-Disposition: attachment;\r\n ${fileNameParameter('filename', fileName)}\r\n\r\n`
  return [Buffer.from(head), base64Lines(octets)]
}

function multipart(kind: 'alternative' | 'mixed', label: string, parts: readonly (readonly Buffer[])[]): Buffer[] {
  // "=_" can't occur in quoted-printable or base64 text, and the id is nobody's to guess before accept.
  const boundary = `=_${label}`
  const out: Buffer[] = [Buffer.from(`Content-Type: multipart/${kind};\r\n boundary="${boundary}"\r\n\r\n`)]
  // Every part ends with CRLF, which belongs to the delimiter that follows (RFC 2046 5.1.1).
  for (const part of parts) out.push(Buffer.from(`--${boundary}\r\n`), ...part)
  out.push(Buffer.from(`--${boundary}--\r\n`))
  return out
}

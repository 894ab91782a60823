import { readFileSync, statSync } from 'node:fs'
import { type ParsedMail, simpleParser } from 'mailparser'
import { type InboxEntry, listed } from '../inbox-entry.ts'
import type { FoundAttachment } from './message-orders.ts'
import { readBeginning } from './read-beginning.ts'
import { readableMessage, writtenHeaders } from './readable-message.ts'
import { type ShownMessage, unparsed } from './shown-message.ts'

/** Larger messages are only shown raw. */
const MAX_PARSED_BYTES = 5 * 1024 * 1024
/** Bytes of the source on a page. */
const MAX_SOURCE_BYTES = 256 * 1024

/** A reference to an attached part (RFC 2392). */
const CONTENT_ID = /\bcid:([^'"<>()\s]{1,256})/g

export interface Shown {
  readonly message: ShownMessage
  /** Bytes of the message. */
  readonly size: number
  /** The From header, decoded; absent if there is none, or if the message could not be parsed. */
  readonly sender?: string
  /** The To header, decoded. */
  readonly recipients?: string
  /** The Cc header, decoded. */
  readonly copied?: string
  /** Absent if the message could not be parsed. */
  readonly parsed?: ParsedMail
  /** The beginning of the raw message, if it could not be parsed. */
  readonly source?: string
}

/** Undefined if the message's file does not exist. */
export async function showMessage(file: string, entry: InboxEntry): Promise<Shown | undefined> {
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined) return undefined
  const raw = size > MAX_PARSED_BYTES ? undefined : readFileSync(file)
  const parsed = raw && (await parse(raw))
  if (!raw || !parsed) return { size, message: unparsed(entry), source: readSource(file) }
  const sender = parsed.from?.text
  const [recipients, copied] = [parsed.to, parsed.cc].map((field) =>
    [field ?? []]
      .flat()
      .map(({ text }) => text)
      .join(', '),
  )
  return {
    size,
    parsed,
    ...(sender ? { sender } : {}),
    ...(recipients ? { recipients } : {}),
    ...(copied ? { copied } : {}),
    message: {
      ...listed(entry),
      headers: writtenHeaders(raw),
      text: parsed.text ?? null,
      html: parsed.html || null,
      attachments: parsed.attachments.map(({ filename, contentType, size }) => ({
        fileName: filename ?? null,
        contentType,
        size,
      })),
    },
  }
}

/** The beginning of the source. */
export function readSource(file: string): string {
  return readBeginning(file, MAX_SOURCE_BYTES).toString()
}

/** An attachment with its content; undefined if the message is too large or has no such attachment. */
export async function readAttachment(file: string, number: number): Promise<FoundAttachment | undefined> {
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined || size > MAX_PARSED_BYTES) return undefined
  const found = (await parse(readFileSync(file)))?.attachments[number]
  if (!found) return undefined
  const { content, contentType, filename } = found
  return { content: new Uint8Array(content), contentType, fileName: filename ?? null }
}

/** Returns the HTML with the URLs of attached images instead of their Content-IDs. */
export function shownHtml({ message, parsed }: Shown): string {
  const numbers = new Map(parsed?.attachments.map(({ cid }, number) => [cid, number]))
  return (message.html ?? '').replace(CONTENT_ID, (whole, cid: string) => {
    const number = numbers.get(cid)
    return number === undefined ? whole : `/view/${message.id}/attachments/${number}`
  })
}

/** Undefined if the parser rejects the message; it is then shown raw. */
async function parse(raw: Buffer): Promise<ParsedMail | undefined> {
  return simpleParser(readableMessage(raw), { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true }).catch(
    () => undefined,
  )
}

import { type ParsedMail, simpleParser } from 'mailparser'
import type { Inbox, InboxEntry } from './inbox.ts'

/** Above this a message is only shown raw. */
const PARSED_AT_MOST = 5 * 1024 * 1024

export interface ShownMessage extends InboxEntry {
  readonly headers: readonly { name: string; value: string }[]
  readonly text: string | null
  readonly html: string | null
  readonly attachments: readonly { fileName: string | null; contentType: string; size: number }[]
}

/** Undefined when the message's file is gone. */
export async function showMessage(inbox: Inbox, entry: InboxEntry): Promise<ShownMessage | undefined> {
  const raw = inbox.raw(entry)
  if (!raw) return undefined
  const parsed = await parse(raw)
  if (!parsed) return { ...entry, headers: [], text: null, html: null, attachments: [] }
  return {
    ...entry,
    headers: parsed.headerLines.map(({ line }) => {
      const colon = line.indexOf(':')
      return { name: line.slice(0, colon), value: line.slice(colon + 1).trim() }
    }),
    text: parsed.text ?? null,
    html: parsed.html || null,
    attachments: parsed.attachments.map(({ filename, contentType, size }) => ({
      fileName: filename ?? null,
      contentType,
      size,
    })),
  }
}

/** Undefined when it is too large, or so strange that the parser gives up: then there is the raw message. */
async function parse(raw: Buffer): Promise<ParsedMail | undefined> {
  if (raw.length > PARSED_AT_MOST) return undefined
  return simpleParser(raw, { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true }).catch(() => undefined)
}

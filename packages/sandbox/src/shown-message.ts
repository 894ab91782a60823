import { simpleParser } from 'mailparser'
import type { Inbox, InboxEntry } from './inbox.ts'

/** Above this a message is only shown raw. */
const PARSED_AT_MOST = 5 * 1024 * 1024

export interface ShownMessage extends InboxEntry {
  readonly headers: readonly { name: string; value: string }[]
  readonly text: string | null
  readonly html: string | null
  readonly attachments: readonly { fileName: string | null; contentType: string; size: number }[]
}

export async function showMessage(inbox: Inbox, entry: InboxEntry): Promise<ShownMessage> {
  const raw = inbox.raw(entry)
  if (raw.length > PARSED_AT_MOST) return { ...entry, headers: [], text: null, html: null, attachments: [] }
  const parsed = await simpleParser(raw, { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true })
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

import { type InboxEntry, type ListedEntry, listed } from '../inbox-entry.ts'

/** The JSON form of a message. */
export interface ShownMessage extends ListedEntry {
  readonly headers: readonly { name: string; value: string }[]
  readonly text: string | null
  readonly html: string | null
  readonly attachments: readonly { fileName: string | null; contentType: string; size: number }[]
}

/** The JSON form of a message that was not parsed. */
export function withoutParts(entry: InboxEntry): ShownMessage {
  return { ...listed(entry), headers: [], text: null, html: null, attachments: [] }
}

import type { InboxEntry } from './inbox-entry.ts'

/** A message as JSON has it. */
export interface ShownMessage extends InboxEntry {
  readonly headers: readonly { name: string; value: string }[]
  readonly text: string | null
  readonly html: string | null
  readonly attachments: readonly { fileName: string | null; contentType: string; size: number }[]
}

/** A message that was not read. */
export function withoutParts(entry: InboxEntry): ShownMessage {
  return { ...entry, headers: [], text: null, html: null, attachments: [] }
}

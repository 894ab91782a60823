import { type InboxEntry, type ListedEntry, listed, type Recipients } from '../inbox-entry.ts'
import { codesOf } from './codes.ts'
import type { JudgedLink } from './judged-link.ts'

/** The parts of a message. */
export interface ShownMessage extends ListedEntry {
  readonly headers: readonly { name: string; value: string }[]
  readonly text: string | null
  readonly html: string | null
  readonly attachments: readonly { fileName: string | null; contentType: string; size: number }[]
}

/** The JSON form of a message: its parts, and what tests ask for. */
export interface FoundMessage extends ShownMessage {
  readonly recipients: Pick<Recipients, 'to' | 'cc' | 'bcc'>
  /** Of the HTML; of a message without, those of its text. */
  readonly links: readonly JudgedLink[]
  readonly codes: readonly string[]
}

interface Findings {
  readonly recipients: Recipients
  readonly links: readonly JudgedLink[]
}

export function withFindings(message: ShownMessage, { recipients: { to, cc, bcc }, links }: Findings): FoundMessage {
  return { ...message, recipients: { to, cc, bcc }, links, codes: codesOf(message) }
}

/** The message without what parsing it would tell. */
export function unparsed(entry: InboxEntry): ShownMessage {
  return { ...listed(entry), headers: [], text: null, html: null, attachments: [] }
}

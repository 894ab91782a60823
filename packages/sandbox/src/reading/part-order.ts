import type { Language } from '@postrider/ui'
import type { InboxEntry } from '../inbox-entry.ts'

/** The tabs of a message's page. */
export const TABS = ['html', 'text', 'source', 'header', 'attachments', 'links', 'checks'] as const
export type Tab = (typeof TABS)[number]

/** Order for the part of the page that shows one message. */
export interface PartOrder {
  readonly form: 'part'
  readonly entry: InboxEntry
  /** Language of the page. */
  readonly language: Language
  readonly file: string
  /** If absent, HTML if the message has any, otherwise text. */
  readonly tab: Tab | undefined
  readonly isPhone: boolean
  readonly hasImages: boolean
  readonly icons: string
  /** The list's query with its question mark; empty if there is none. */
  readonly query: string
  /** URL of the message's history in the dashboard; undefined if it was not sent by Postrider. */
  readonly history: string | undefined
  /** DNS servers for keys of signatures; if empty, none are looked up. */
  readonly dnsServers: readonly string[]
}

import type { Language } from '@postrider/ui'
import type { InboxEntry } from '../inbox-entry.ts'
import type { JudgedLink } from './judged-link.ts'

/** The tabs of a message's page. */
export const TABS = ['html', 'widths', 'text', 'source', 'header', 'attachments', 'links', 'checks', 'support'] as const
export type Tab = (typeof TABS)[number]

/** Widths of the frame that shows the HTML. */
export const WIDTHS = ['desktop', 'tablet', 'phone'] as const
export type Width = (typeof WIDTHS)[number]

/** The result of a form of a message: a sentence of the pages' words, with its detail. */
export interface Notice {
  readonly kind: 'released' | 'unsubscribed' | 'failed'
  readonly detail: string
}

/** Data of the head of a message's page that are not in the message itself. */
export interface HeadOrder {
  readonly entry: InboxEntry
  /** Language of the page. */
  readonly language: Language
  readonly icons: string
  /** The list's query with its question mark; empty if there is none. */
  readonly query: string
  /** URL of the message's history in the dashboard; undefined if it was not sent by Postrider. */
  readonly history: string | undefined
  /** The first copies of the message, and the number of the others. */
  readonly copies: readonly Pick<InboxEntry, 'id' | 'to'>[]
  readonly moreCopies: number
  readonly tags: readonly string[]
  /** Whom the operator allows messages to be released to; undefined if nothing is released. */
  readonly releasesTo: string | undefined
  /** The result of the form that was sent last. */
  readonly notice: Notice | undefined
}

/** Order for the part of the page that shows one message. */
export interface PartOrder extends HeadOrder {
  readonly form: 'part'
  readonly file: string
  /** If absent, HTML if the message has any, otherwise text. */
  readonly tab: Tab | undefined
  readonly width: Width
  readonly hasImages: boolean
  /** DNS servers for keys of signatures; if empty, none are looked up. */
  readonly dnsServers: readonly string[]
  /** Whether the operator allows requests of links. */
  readonly canRequest: boolean
  /** For the tabs that show or check links. */
  readonly links: readonly JudgedLink[]
}

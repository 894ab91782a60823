import type { ClassName } from './mail-class.ts'

export const REQUIREMENT_MODES = ['warn', 'hold'] as const
/** The consequence for bulk mail without what large receivers demand: it is sent, or it waits. */
export type RequirementMode = (typeof REQUIREMENT_MODES)[number]

/** An account's defaults for its mail, and its privacy, time zone and retention settings. */
export interface AccountSettings {
  readonly openTracking: boolean
  readonly clickTracking: boolean
  readonly unsubscribeLink: boolean
  /** The class of its mail, unless the key or the message has another. */
  readonly mailClass: ClassName
  /** HTML footer appended to the account's mail; null if none. */
  readonly footerHtml: string | null
  readonly footerText: string | null
  /** The sentence around the unsubscribe link, in which `<% %>` marks the link; null: the service's. */
  readonly unsubscribeHtml: string | null
  readonly unsubscribeText: string | null
  /** Whether plain text is generated for messages of v2 that have HTML alone. */
  readonly generateText: boolean
  /** Whether hosts below its active domains may send, as `root@web1.example.com` where `example.com` is one. */
  readonly hostsMaySend: boolean
  /** The address, at an active domain, that mail of hosts without a sending domain is sent from, by SMTP; null: it is refused. */
  readonly fallbackSender: string | null
  /** Whether senders by SMTP are notified of failures and delays by mail, even without NOTIFY (RFC 3461). */
  readonly mailReports: boolean
  /** Whether opens and clicks are stored without IP address and user agent. */
  readonly privacyMode: boolean
  /** Whether the owners get mail about what they have to see to. */
  readonly accountNotices: boolean
  /** Kinds of notices that they do not get, separated by commas; empty: none. */
  readonly mutedNotices: string
  /** Whether bulk mail without what large receivers demand waits; null: as the operator has set it. */
  readonly requirements: RequirementMode | null
  /** IANA time zone that defines the days of statistics and the dates in exports. */
  readonly timeZone: string
  /** Whether the content of its mail stays stored after the last outcome, unless the key or the message says otherwise. */
  readonly keepContent: boolean
  /** Days that events are retained; null for the operator's maximum. */
  readonly eventDays: number | null
  /** Days that bodies are retained; null for the operator's maximum. */
  readonly bodyDays: number | null
}

import type { StatusNotifications } from './status-notifications.ts'

/**
 * Additional data of a submission. Everything is optional and independent of the API version: used by v3 and the
 * X-SMTPAPI header. v2 uses only recipient names and inline files.
 */

/** An address as the client wrote it, with its display name; empty if none. */
export interface SubmittedMailbox {
  readonly email: string
  readonly name: string
}

export interface SubmissionDetails {
  /** The notifications that its sender gets by mail, as {@link notificationsFor} returned them. */
  readonly notifications?: StatusNotifications | undefined
  /** The caller's `traceparent` (W3C Trace Context), not validated. */
  readonly traceParent?: string | undefined
  /** Replaces `replyTo`: one Reply-To field with one or several mailboxes. */
  readonly replyToList?: readonly SubmittedMailbox[]
  /**
   * Replaces `templateId`: a template by the id its entry point uses. If it is unknown, the deliveries are dropped and
   * the call succeeds.
   */
  readonly templateKey?: string
  /** Sections for substitutions: a literal tag and its replacement. */
  readonly sections?: Readonly<Record<string, string>>
  /** Merge tags are disabled: `[%NAME%]` is kept as plain text. */
  readonly literal?: boolean
  /** The batch used to pause or cancel scheduled deliveries. */
  readonly batchId?: string
  /** An accepted message that is sent again: its content and settings replace those of the submission. */
  readonly resent?: ResentMessage
  /**
   * Nothing is sent: all deliveries are dropped immediately for this reason. `instructions`: the X-SMTPAPI directives
   * are invalid or cannot be applied.
   */
  readonly dropped?: 'instructions'
  /** Describes the error in the directives; stored in the events of these deliveries. */
  readonly droppedProblem?: string
}

/** The stored parts of a message that is sent again, beside part 0, which is the submission's content. */
export interface ResentMessage {
  /** 32 hex digits. */
  readonly originalId: string
  readonly format: 'mime' | 'content'
  readonly subject: string
  /** As composition/added-content.ts describes them. */
  readonly settings: object
  /** Parts 1 and up. */
  readonly files: readonly Buffer[]
  readonly recipients: readonly {
    readonly recipient: string
    readonly kind: 'to' | 'cc' | 'bcc'
    readonly reference: string | undefined
    /** As composition/recipient-data.ts describes them. */
    readonly personal: object | null
  }[]
}

export interface EnvelopeDetails {
  /** Replaces the generated Message-ID; includes the angle brackets (RFC 5322 3.6.4). */
  readonly messageId?: string
  /** Display names in To and Cc, by address as written in `to` and `cc`. */
  readonly names?: ReadonlyMap<string, string>
  /** Replaces the submission's From. It is on the submission's domain. */
  readonly from?: SubmittedMailbox
  readonly subject?: string
  readonly scheduledAt?: Date
  /** Literal, case-sensitive keys with their replacements in subject, Reply-To and content. */
  readonly substitutions?: Readonly<Record<string, string>>
  /** Data a template is rendered with: any JSON object. */
  readonly data?: Readonly<Record<string, unknown>>
  /** Included in every event of these recipients. Already merged with those of the submission. */
  readonly customArgs?: Readonly<Record<string, string>>
}

/** `type`: a media type with parameters. */
export interface Alternative {
  readonly type: string
  readonly text: string
}

export interface ContentDetails {
  /** Alternatives in addition to text, AMP and HTML, placed after HTML in this order: calendar invitations. */
  readonly alternatives?: readonly Alternative[]
  /** Extra header fields of every copy, unless its envelope has one of the same name. */
  readonly headers?: Readonly<Record<string, string>>
  /** Value of the Date field; default is the time the message was accepted. */
  readonly date?: Date
  /** Value of the Sender field; the account may send from its address. */
  readonly sender?: SubmittedMailbox
  /** Sent with a null return path, so that it causes no bounces: an automatic reply or a notice. */
  readonly nullReturnPath?: boolean
}

export interface FileDetails {
  /** A media type with parameters. If omitted, derived from the file name. */
  readonly type?: string
  /** Default attachment. */
  readonly disposition?: 'attachment' | 'inline'
  /** Content-ID used by the HTML (`cid:`), without angle brackets. */
  readonly contentId?: string
}

/** Lists to bypass: all of them, or those with one reason; `unsubscribe` is the list for all mail, not a group. */
export type Bypass = 'all' | 'hardbounce' | 'abuse' | 'unsubscribe'

export interface SettingsDetails {
  readonly bypass?: readonly Bypass[]
  /** Replaces the account's footer. */
  readonly footerTexts?: { readonly text: string; readonly html: string }
  /** Whether links in the text part are tracked too. */
  readonly clickTrackingInText?: boolean
  /** A tag in the HTML that is replaced by the open pixel; by default the pixel is at the end. */
  readonly openTag?: string
  /** Text of the unsubscribe link, in which `<% %>` marks the link, or a tag that is replaced by the bare URL. */
  readonly unsubscribeTexts?: { readonly text?: string; readonly html?: string; readonly tag?: string }
  /** Every copy gets an unsubscribe link for its group, and List-Unsubscribe, regardless of `unsubscribe`. */
  readonly groupLink?: boolean
  /** Query parameters added to links, such as `utm_source`. */
  readonly linkParameters?: Readonly<Record<string, string>>
  /** Groups shown on the preferences page. */
  readonly groupsToDisplay?: readonly number[]
}

/**
 * What a submission may say beyond the least. Every part is optional and neutral: v3 and the SMTP extension header say it, v2
 * no more of it than names of recipients and inline files.
 */

/** An address as the client wrote it, and the name shown beside it; empty: none. */
export interface SubmittedMailbox {
  readonly email: string
  readonly name: string
}

export interface SubmissionDetails {
  /** Where answers go, in place of `replyTo`: one Reply-To field of one or several mailboxes. */
  readonly replyToList?: readonly SubmittedMailbox[]
  /**
   * A template by the id its own door knows it by, in place of `templateId`. One that is unknown drops the deliveries; it does
   * not fail the call.
   */
  readonly templateKey?: string
  /** Text that substitutions may name: a literal tag and what stands for it. */
  readonly sections?: Readonly<Record<string, string>>
  /** Merge tags are plain text here: nothing is put in for `[%NAME%]`. */
  readonly literal?: boolean
  /** The batch by which what is scheduled can be paused and cancelled. */
  readonly batchId?: string
  /**
   * Nothing of it is sent: each of its deliveries is dropped at once, for this reason. `instructions`: what its sender asked for
   * can't be read or done.
   */
  readonly dropped?: 'instructions'
  /** What is wrong with them, kept in the events of these deliveries. */
  readonly droppedProblem?: string
}

export interface EnvelopeDetails {
  /** In place of one of ours, with its brackets (RFC 5322 3.6.4). */
  readonly messageId?: string
  /** Names shown in To and Cc, by address as it stands in `to` and `cc`. */
  readonly names?: ReadonlyMap<string, string>
  /** In place of the submission's own. `from` is on the submission's domain. */
  readonly from?: SubmittedMailbox
  readonly subject?: string
  readonly scheduledAt?: Date
  /** Literal, case-sensitive text and what stands for it in subject, Reply-To and content. */
  readonly substitutions?: Readonly<Record<string, string>>
  /** What a template is rendered with: any JSON. */
  readonly data?: Readonly<Record<string, unknown>>
  /** Given back with every event of these recipients. Those of the submission are in here already. */
  readonly customArgs?: Readonly<Record<string, string>>
}

/** `type`: a media type, with its parameters. */
export interface Alternative {
  readonly type: string
  readonly text: string
}

export interface ContentDetails {
  /** Alternatives beyond text, AMP and HTML, in their order, after HTML: calendar invitations. */
  readonly alternatives?: readonly Alternative[]
  /** Extra fields of every copy, where its envelope has none of that name. */
  readonly headers?: Readonly<Record<string, string>>
  /** What Date says, in place of the moment of accept. */
  readonly date?: Date
  /** It wants no bounces: an answer of a program to another, or a notice. */
  readonly nullReturnPath?: boolean
}

export interface FileDetails {
  /** A media type, with its parameters. By the file's name, when left out. */
  readonly type?: string
  /** Default attachment. */
  readonly disposition?: 'attachment' | 'inline'
  /** By which the HTML names it (`cid:`), without brackets. */
  readonly contentId?: string
}

/** Lists that don't hold this message: all of them, or those of one reason; `unsubscribe` is the list for all mail, not a group. */
export type Bypass = 'all' | 'hardbounce' | 'abuse' | 'unsubscribe'

export interface SettingsDetails {
  readonly bypass?: readonly Bypass[]
  /** In place of the account's footer. */
  readonly footerTexts?: { readonly text: string; readonly html: string }
  /** Links of the text part lead through tracking too. */
  readonly clickTrackingInText?: boolean
  /** Where the open pixel goes, in place of the end of the HTML. */
  readonly openTag?: string
  /** The sentence of the unsubscribe link, in which `<% %>` marks the link, or the tag that its bare URL stands in for. */
  readonly unsubscribeTexts?: { readonly text?: string; readonly html?: string; readonly tag?: string }
  /** Every copy has the link that leaves its group, and List-Unsubscribe, whatever `unsubscribe` says. */
  readonly groupLink?: boolean
  /** Query parameters added to links: `utm_source`. */
  readonly linkParameters?: Readonly<Record<string, string>>
  /** Groups the preferences page shows. */
  readonly groupsToDisplay?: readonly number[]
}

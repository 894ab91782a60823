import type { MailDefaults } from '../accounts/account.ts'
import { DELIVERY_CLASSES, NORMAL } from '../accounts/mail-class.ts'
import { isEgressName } from '../delivery/sources/change-egress.ts'
import type { StoredNotifications } from '../submission/status-notifications.ts'
import type { MessageSettings, Submission } from '../submission/submission.ts'
import { PREFERENCES_LABEL } from './links/unsubscribe-sentence.ts'
import { renderMergeTags, withUnsubscribe } from './merge.ts'

/** The content added to an outbound message, as stored with it: only what is enabled. Fixed when the message is accepted. */
export interface AddedContent extends MessageSettings {
  /** Whether List-Unsubscribe fields of the sender's own are one-click unsubscription; set for bulk mail that has some. None is added to them. */
  readonly oneClick?: boolean
  /** The domain's custom host for links; undefined if the links use the service's host. */
  readonly trackingHost?: string
  /** Set for a MIME message with attachments, for searches. Those of a composed message are counted by its parts. */
  readonly attachments?: true
  /** The Message-ID of a MIME message that has its own, for searches. */
  readonly messageId?: string
  /** Corrections of a MIME message when it was accepted, in words. */
  readonly corrected?: string
  /** The notifications that its sender gets by mail. */
  readonly notifications?: StoredNotifications
  /** The id of the message that it is sent again from, in 32 hex digits. */
  readonly resentFrom?: string
  /** The `traceparent` of its acceptance, if its trace is sampled. It is not sent with the message. */
  readonly traceParent?: string
  /** The template, if the entry point has its own template ids, with its name at that time; no name if it did not exist. */
  readonly template?: { readonly id: string; readonly name?: string }
}

/** The footer of a message. Later changes of the account's footer do not affect it. */
export interface Footer {
  readonly html?: string
  readonly text?: string
  /** Set if the footer was given with the message; its merge tags are not replaced. */
  readonly literal?: true
}

/**
 * Returns the added content: the settings of the message, or the account's defaults. Nothing is added to a message with a null
 * return path (MAIL FROM:<>), because such messages are automatic replies.
 */
export function addedContentOf(submission: Submission, trackingHost: string | null): AddedContent {
  const { settings, principal } = submission
  const { group: id, groupsToDisplay, bypass, deadline, pool, tls } = settings
  const of = settings.class ?? principal.restrictions?.class ?? principal.mailDefaults.mailClass
  const group = {
    ...(of === DELIVERY_CLASSES[NORMAL] ? {} : { class: of }),
    ...(deadline === undefined ? {} : { deadline }),
    ...(isKept(submission) ? {} : { keepContent: false }),
    ...(tls === undefined ? {} : { tls }),
    ...(pool === undefined || !isEgressName(pool) ? {} : { pool }),
    ...(id === undefined ? {} : { group: id }),
    ...(groupsToDisplay ? { groupsToDisplay } : {}),
    ...(bypass ? { bypass } : {}),
  }
  if (isAutomaticReply(submission)) return group
  const { mailDefaults } = principal
  const on = {
    footer: settings.footer ?? hasFooter(submission),
    clickTracking: settings.clickTracking ?? mailDefaults.clickTracking,
    openTracking: settings.openTracking ?? mailDefaults.openTracking,
    unsubscribe: hasGroupLink(settings) || (settings.unsubscribe ?? mailDefaults.unsubscribe),
  }
  const links = on.clickTracking || on.openTracking || on.unsubscribe
  return {
    ...(on.footer ? { footer: true } : {}),
    ...(on.clickTracking ? { clickTracking: true } : {}),
    ...(on.openTracking ? { openTracking: true } : {}),
    ...(on.unsubscribe ? { unsubscribe: true } : {}),
    ...detailsOf(submission, on),
    ...group,
    ...(links && trackingHost !== null ? { trackingHost } : {}),
  }
}

/** The strictest holds: a message does not keep what its account or key does not. */
function isKept({ settings, principal: { restrictions, mailDefaults } }: Submission): boolean {
  return settings.keepContent !== false && restrictions?.keepContent !== false && mailDefaults.keepsContent
}

/** Returns the details of the enabled features. */
function detailsOf(
  { settings, principal: { mailDefaults } }: Submission,
  on: { readonly clickTracking: boolean; readonly openTracking: boolean; readonly unsubscribe: boolean },
): AddedContent {
  const { clickTrackingInText, openTag, linkParameters } = settings
  // The links of a group have a sentence of their own.
  const unsubscribeTexts =
    settings.unsubscribeTexts ?? (hasGroupLink(settings) ? undefined : accountTexts(mailDefaults))
  return {
    ...(on.clickTracking && clickTrackingInText === false ? { clickTrackingInText } : {}),
    ...(on.openTracking && openTag ? { openTag } : {}),
    ...(on.unsubscribe && unsubscribeTexts ? { unsubscribeTexts } : {}),
    ...(hasGroupLink(settings) ? { groupLink: true } : {}),
    ...(linkParameters ? { linkParameters } : {}),
  }
}

function accountTexts({
  unsubscribeHtml: html,
  unsubscribeText: text,
}: MailDefaults): MessageSettings['unsubscribeTexts'] {
  return html || text ? { ...(html ? { html } : {}), ...(text ? { text } : {}) } : undefined
}

function hasGroupLink({ group, groupLink }: MessageSettings): boolean {
  return group !== undefined && groupLink === true
}

/** Contract, corrections: the mirrored service appends this to mail of a group. */
const LINKS = `<%Unsubscribe From This List%> | <%${PREFERENCES_LABEL}%>`
const GROUP_SENTENCE = { text: LINKS, html: `<p style="font-size:12px">${LINKS}</p>` }

/** Returns the sentence around the unsubscribe link; undefined if the service's default is used. */
export function unsubscribeTextsOf({ unsubscribeTexts, groupLink }: AddedContent): MessageSettings['unsubscribeTexts'] {
  return groupLink ? { ...GROUP_SENTENCE, ...unsubscribeTexts } : unsubscribeTexts
}

/** Returns the footer of the message; undefined if it has none. */
export function footerOf(submission: Submission): Footer | undefined {
  const { footer, footerTexts: own } = submission.settings
  if (footer === false || !hasFooter(submission) || isAutomaticReply(submission)) return undefined
  if (own) return { ...(own.html ? { html: own.html } : {}), ...(own.text ? { text: own.text } : {}), literal: true }
  const { footerHtml, footerText } = submission.principal.mailDefaults
  return { ...(footerHtml ? { html: footerHtml } : {}), ...(footerText ? { text: footerText } : {}) }
}

/** Returns the footer of a MIME message. Its recipients share their attributes, so tags are merged once, when it is accepted. */
export function mergedFooter(submission: Submission, { unsubscribe }: AddedContent): Footer | undefined {
  const footer = footerOf(submission)
  if (!footer || footer.literal) return footer
  const given = submission.envelopes[0]?.attributes ?? {}
  const attributes = unsubscribe ? withUnsubscribe(given) : given
  const { html, text } = footer
  return {
    ...(html === undefined ? {} : { html: renderMergeTags(html, attributes) }),
    ...(text === undefined ? {} : { text: renderMergeTags(text, attributes) }),
  }
}

function hasFooter({ principal, settings }: Submission): boolean {
  if (settings.footerTexts) return settings.footerTexts.html !== '' || settings.footerTexts.text !== ''
  return Boolean(principal.mailDefaults.footerHtml || principal.mailDefaults.footerText)
}

function isAutomaticReply({ content }: Submission): boolean {
  return content.nullReturnPath === true
}

import type { MessageSettings, Submission } from '../submission/submission.ts'
import { renderMergeTags, withUnsubscribe } from './merge.ts'

/** What is added to a message on its way out, as it is stored with it: only what is on. Settled at accept. */
export interface Additions extends MessageSettings {
  /** The domain's own host for links; without it they lead to the service's. */
  readonly trackingHost?: string
  /** The template that its door named by an id of its own, and its name then; no name: there was none. */
  readonly template?: { readonly id: string; readonly name?: string }
}

/** A footer as a message got it, whatever becomes of the account's. */
export interface Footer {
  readonly html?: string
  readonly text?: string
  /** The message's own: nothing is put in for merge tags. */
  readonly literal?: true
}

/**
 * What the message says, else the account's default. A message that wants no bounces (MAIL FROM:<>) is an answer of a program to
 * another: nothing is added to it.
 */
export function additionsOf(submission: Submission, trackingHost: string | null): Additions {
  const { settings, principal } = submission
  const { group: id, groupsToDisplay, bypass } = settings
  const group = {
    ...(id === undefined ? {} : { group: id }),
    ...(groupsToDisplay ? { groupsToDisplay } : {}),
    ...(bypass ? { bypass } : {}),
  }
  if (isProgramAnswer(submission)) return group
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
    ...detailsOf(settings, on),
    ...group,
    ...(links && trackingHost !== null ? { trackingHost } : {}),
  }
}

/** How it is done, of what is on. */
function detailsOf(
  settings: MessageSettings,
  on: { readonly clickTracking: boolean; readonly openTracking: boolean; readonly unsubscribe: boolean },
): Additions {
  const { clickTrackingInText, openTag, unsubscribeTexts, linkParameters } = settings
  return {
    ...(on.clickTracking && clickTrackingInText === false ? { clickTrackingInText } : {}),
    ...(on.openTracking && openTag ? { openTag } : {}),
    ...(on.unsubscribe && unsubscribeTexts ? { unsubscribeTexts } : {}),
    ...(hasGroupLink(settings) ? { groupLink: true } : {}),
    ...(linkParameters ? { linkParameters } : {}),
  }
}

function hasGroupLink({ group, groupLink }: MessageSettings): boolean {
  return group !== undefined && groupLink === true
}

/** Contract, corrections: what the mirrored service appends to mail of a group. Both links lead to where one leaves the group. */
const LINKS = '<%Unsubscribe From This List%> | <%Manage Email Preferences%>'
const GROUP_SENTENCE = { text: LINKS, html: `<p style="font-size:12px">${LINKS}</p>` }

/** The words around the unsubscribe link, where they are not the service's own. */
export function unsubscribeTextsOf({ unsubscribeTexts, groupLink }: Additions): MessageSettings['unsubscribeTexts'] {
  return groupLink ? { ...GROUP_SENTENCE, ...unsubscribeTexts } : unsubscribeTexts
}

/** The footer this message gets; undefined: none. */
export function footerOf(submission: Submission): Footer | undefined {
  const { footer, footerTexts: own } = submission.settings
  if (footer === false || !hasFooter(submission) || isProgramAnswer(submission)) return undefined
  if (own) return { ...(own.html ? { html: own.html } : {}), ...(own.text ? { text: own.text } : {}), literal: true }
  const { footerHtml, footerText } = submission.principal.mailDefaults
  return { ...(footerHtml ? { html: footerHtml } : {}), ...(footerText ? { text: footerText } : {}) }
}

/** The footer of a MIME message, whose recipients share their attributes: merged once, at accept. */
export function mergedFooter(submission: Submission, { unsubscribe }: Additions): Footer | undefined {
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

function isProgramAnswer({ content }: Submission): boolean {
  return content.nullReturnPath === true
}

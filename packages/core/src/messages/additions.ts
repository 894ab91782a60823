import { renderMergeTags, withUnsubscribe } from './merge.ts'
import type { MessageSettings, Submission } from './submission.ts'

/** What is added to a message on its way out, as it is stored with it: only what is on. Settled at accept. */
export interface Additions extends MessageSettings {
  /** The domain's own host for links; without it they lead to the service's. */
  readonly trackingHost?: string
}

/** A footer as a message got it, whatever becomes of the account's. */
export interface Footer {
  readonly html?: string
  readonly text?: string
}

/**
 * What the message says, else the account's default. A message that wants no bounces (MAIL FROM:<>) is an answer of a program to
 * another: nothing is added to it.
 */
export function additionsOf(submission: Submission, trackingHost: string | null): Additions {
  const { settings, principal } = submission
  const group = settings.group === undefined ? {} : { group: settings.group }
  if (isProgramAnswer(submission)) return group
  const { mailDefaults } = principal
  const on = {
    footer: settings.footer ?? hasFooter(submission),
    clickTracking: settings.clickTracking ?? mailDefaults.clickTracking,
    openTracking: settings.openTracking ?? mailDefaults.openTracking,
    unsubscribe: settings.unsubscribe ?? mailDefaults.unsubscribe,
  }
  const links = on.clickTracking || on.openTracking || on.unsubscribe
  return {
    ...(on.footer ? { footer: true } : {}),
    ...(on.clickTracking ? { clickTracking: true } : {}),
    ...(on.openTracking ? { openTracking: true } : {}),
    ...(on.unsubscribe ? { unsubscribe: true } : {}),
    ...group,
    ...(links && trackingHost !== null ? { trackingHost } : {}),
  }
}

/** The footer this message gets; undefined: none. */
export function footerOf(submission: Submission): Footer | undefined {
  if (submission.settings.footer === false || !hasFooter(submission) || isProgramAnswer(submission)) return undefined
  const { footerHtml, footerText } = submission.principal.mailDefaults
  return { ...(footerHtml ? { html: footerHtml } : {}), ...(footerText ? { text: footerText } : {}) }
}

/** The footer of a MIME message, whose recipients share their attributes: merged once, at accept. */
export function mergedFooter(submission: Submission, { unsubscribe }: Additions): Footer | undefined {
  const footer = footerOf(submission)
  if (!footer) return undefined
  const given = submission.envelopes[0]?.attributes ?? {}
  const attributes = unsubscribe ? withUnsubscribe(given) : given
  const { html, text } = footer
  return {
    ...(html === undefined ? {} : { html: renderMergeTags(html, attributes) }),
    ...(text === undefined ? {} : { text: renderMergeTags(text, attributes) }),
  }
}

function hasFooter({ principal }: Submission): boolean {
  return Boolean(principal.mailDefaults.footerHtml || principal.mailDefaults.footerText)
}

function isProgramAnswer({ content }: Submission): boolean {
  return content.nullReturnPath === true
}

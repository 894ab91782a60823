import { HARD_CLASSES } from '../../delivery/outcomes/bounce-rules.ts'
import type { EventDetail } from '../../events/event-detail.ts'

/** Texts for events that v2 reports with fewer event names than core has (v2 contract 16.4). */

/**
 * Hard bounces in logs, statistics, exports and webhooks. Expired mail is a soft bounce, as are all other classes. The indexes of the
 * event log have these classes in their conditions (reporting/event-log/notable.ts).
 */
export const HARD_BOUNCES: readonly string[] = HARD_CLASSES

/** Returns whether a bounce class (delivery/bounce-rules.ts) is a hard bounce. */
export function isHardBounce(bounceClass: string | undefined): boolean {
  return bounceClass !== undefined && HARD_BOUNCES.includes(bounceClass)
}

/** Returns the text of a drop for the reason of an event or delivery. */
export function dropText(reason: string | undefined): string {
  return `Email dropped: ${DROP_REASONS[reason ?? ''] ?? 'User suppressed'}`
}

const DROP_REASONS: Readonly<Record<string, string>> = {
  unsubscribe: 'User suppressed due to unsubscription',
  hardbounce: 'User suppressed due to hard bounce',
  abuse: 'User suppressed due to abuse complaint',
  manual: 'User added to suppression list manually',
  global: 'User present in global blacklisting',
  invalid: 'Invalid email address',
  forgotten: 'User erased on request',
  cancelled: 'Message was cancelled',
  operator: 'Message was cancelled by the operator',
  instructions: 'Invalid X-SMTPAPI directives',
  template: 'Template does not exist or has no active version',
  rendering: 'Template could not be rendered',
  'domain-lost': 'The sending domain was lost',
}

/** Returns a server's reply on one line: `250 2.0.0 OK`. */
export function replyText(reply: {
  readonly code?: number | null
  readonly enhanced?: string | null
  readonly reply?: string | null
}): string {
  return replyLine({
    ...(reply.code ? { code: reply.code } : {}),
    ...(reply.enhanced ? { enhanced: reply.enhanced } : {}),
    reply: reply.reply?.replace(/\s+/g, ' ').trim() ?? '',
  }).trim()
}

/** Returns a server's reply as it was sent. */
export function replyLine(detail: Pick<EventDetail, 'code' | 'enhanced' | 'reply'>): string {
  const { code, enhanced, reply = '' } = detail
  // The reply in a report begins with its codes.
  if (code !== undefined && reply.startsWith(`${code}`)) return reply
  const text = enhanced !== undefined && !reply.startsWith(enhanced) ? `${enhanced} ${reply}` : reply
  return code === undefined ? text : `${code} ${text}`
}

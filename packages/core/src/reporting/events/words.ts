import type { EventDetail } from '../../events/event-detail.ts'

/** How v2 tells of events where core has more to say than v2 has words for (v2 contract 16.4). */

/**
 * Bounce classes that say that no mail will ever reach the address: hard bounces, in logs, statistics, exports and webhooks. All
 * others, and mail that expired, are soft ones: the same address may well take the next message. The indexes by which the event log
 * finds them have these classes in their conditions (reporting/event-log/notable.ts).
 */
export const HARD_BOUNCES: readonly string[] = ['bad-mailbox', 'bad-domain', 'mailbox-inactive']

/** `class`: see delivery/bounce-rules.ts. */
export function isHardBounce(bounceClass: string | undefined): boolean {
  return bounceClass !== undefined && HARD_BOUNCES.includes(bounceClass)
}

/** Why nothing was sent, from what an event or a delivery has as its reason. */
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
  forgotten: 'User was forgotten on request',
  cancelled: 'Message was cancelled',
  instructions: 'Instructions of the sender are invalid',
  template: 'Template does not exist or has no active version',
  rendering: 'Template could not be rendered',
  'domain-lost': 'The sending domain was lost',
}

/** What a server said, on one line: `250 2.0.0 OK`. */
export function replyText(said: {
  readonly code?: number | null
  readonly enhanced?: string | null
  readonly reply?: string | null
}): string {
  return [said.code, said.enhanced, said.reply?.replace(/\s+/g, ' ').trim()].filter(Boolean).join(' ')
}

/** The server's reply as it stood on the wire. */
export function replyLine(said: Pick<EventDetail, 'code' | 'enhanced' | 'reply'>): string {
  const { code, enhanced, reply = '' } = said
  const told = enhanced !== undefined && !reply.startsWith(enhanced) ? `${enhanced} ${reply}` : reply
  return code === undefined || reply.startsWith(`${code}`) ? told : `${code} ${told}`
}

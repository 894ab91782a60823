import { type EventType, eventType } from './event-types.ts'

/** Names of events in other vocabularies: those of v3, of the mirrored log and of other services. */
const ALIASES: Readonly<Record<string, string>> = {
  abuse: 'spam',
  accepted: 'processed',
  bounce: 'bounced',
  click: 'clicked',
  complained: 'spam',
  complaint: 'spam',
  delivered: 'sent',
  delivery: 'sent',
  drop: 'dropped',
  group_resubscribe: 'resubscribed',
  group_unsubscribe: 'unsubscribed',
  hard_bounce: 'hardbounce',
  open: 'opened',
  soft_bounce: 'softbounce',
  spam_report: 'spam',
  spamreport: 'spam',
  unsub: 'unsubscribed',
  unsubscribe: 'unsubscribed',
}

/** Returns the service's own name for an event that a client named: one vocabulary for webhooks, the feed, the log and exports. */
export function eventWord(given: string): string {
  const word = given.trim().toLowerCase()
  return Object.hasOwn(ALIASES, word) ? (ALIASES[word] as string) : word
}

/** Returns the name of a type in that vocabulary; to clients, expired mail has bounced. */
export function wordOf(type: EventType): string {
  return eventType(type).v2 ?? type
}

/** Whether a word of {@link eventWord} means events of this type. */
export function isMeant(word: string, type: EventType): boolean {
  return word === type || word === wordOf(type)
}

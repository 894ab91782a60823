import { eventType, WEBHOOK_EVENTS, type Webhook, type WebhookEvent, type WebhookSettings } from '@postrider/core'

/** v3's flags and the event name of each. There is no event for resubscribing to a group. */
export const FLAGS = {
  group_resubscribe: 'group_resubscribe',
  delivered: 'delivered',
  group_unsubscribe: 'group_unsubscribe',
  spam_report: 'spamreport',
  bounce: 'bounce',
  deferred: 'deferred',
  unsubscribe: 'unsubscribe',
  processed: 'processed',
  open: 'open',
  click: 'click',
  dropped: 'dropped',
} as const
type Flag = keyof typeof FLAGS
export const EVERY = Object.keys(FLAGS) as Flag[]

/** Whether such an event is reported under the flag's name. To core, unsubscribing from a group is an unsubscribe. */
function isAbout(flag: Flag, event: WebhookEvent): boolean {
  const name = flag === 'group_unsubscribe' ? FLAGS.unsubscribe : FLAGS[flag]
  return eventType(event).v3 === name
}

export const flagsOf = <T>(value: (flag: Flag) => T) =>
  Object.fromEntries(EVERY.map((flag) => [flag, value(flag)])) as Record<Flag, T>

export function eventsOf(names: ReadonlySet<string>): Pick<WebhookSettings, 'events' | 'names'> {
  const events = WEBHOOK_EVENTS.filter((event) => EVERY.some((flag) => names.has(FLAGS[flag]) && isAbout(flag, event)))
  return { events, names: [...names] }
}

/** Returns the names of the events the webhook receives. */
export function namesOf({ events, names }: Webhook): ReadonlySet<string> {
  if (names) return new Set(names)
  const told = EVERY.filter((flag) => events.some((event) => isAbout(flag, event)))
  return new Set(told.map((flag) => FLAGS[flag]))
}

export const NONE = {
  enabled: false,
  url: '',
  friendly_name: '',
  ...flagsOf(() => false),
  oauth_client_id: '',
  oauth_token_url: '',
}

export function shown(webhook: Webhook) {
  const { id, enabled, url, label, createdAt, changedAt } = webhook
  const names = namesOf(webhook)
  return {
    ...NONE,
    enabled,
    url,
    friendly_name: label,
    ...flagsOf((flag) => names.has(FLAGS[flag])),
    id: String(id),
    created_date: createdAt.toISOString(),
    updated_date: (changedAt ?? createdAt).toISOString(),
  }
}

export function keyOf({ id, signed, publicKey }: Webhook) {
  return { id: String(id), public_key: signed ? publicKey : '' }
}

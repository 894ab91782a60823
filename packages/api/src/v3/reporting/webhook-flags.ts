import { eventType, WEBHOOK_EVENTS, type Webhook, type WebhookEvent, type WebhookSettings } from '@postrider/core'

/** v3's flags and the event name of each. */
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

/** Returns an object with a value for each flag. */
export const flagsOf = <T>(value: (flag: Flag) => T) =>
  Object.fromEntries(EVERY.map((flag) => [flag, value(flag)])) as Record<Flag, T>

/** Returns the settings of a webhook that receives the events of these names. */
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

/** A webhook that does not exist, as v3 shows it. */
export const NONE = {
  enabled: false,
  url: '',
  friendly_name: '',
  ...flagsOf(() => false),
  oauth_client_id: '',
  oauth_token_url: '',
}

/** A webhook as v3 shows it (contract 7.1). */
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

/** The public key of a webhook, empty if it does not sign. */
export function keyOf({ id, signed, publicKey }: Webhook) {
  return { id: String(id), public_key: signed ? publicKey : '' }
}

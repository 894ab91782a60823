import type { EventDetail } from './event-detail.ts'

/** One type of event with all data that depend on the type. All reports of events use this table. */
export interface EventTypeRow {
  readonly meaning: string
  /** Files of `packages/core/src` that write such events, in the transaction of the fact. */
  readonly producers: readonly string[]
  /** The name in webhooks and in the event feed; null if that format does not report it (v2 contract 16.4; v3 contract 9.2). */
  readonly v2: string | null
  readonly v3: string | null
  readonly log: {
    /** The value of the log's `events` filter that finds such deliveries; null if there is none. */
    readonly filter: string | null
    /** The statuses that the event can give to the delivery's row (v2 contract 12.1); if empty, the delivery's state decides. */
    readonly statuses: readonly string[]
    /**
     * Whether the event is in the partial index of notable events (events_notable), which excludes types that every delivery has. Adding a
     * type to the index requires a migration.
     */
    readonly indexed: boolean
  }
  /** The names in exports; for bounces, one of the two depending on the class. If empty, the type is not exported. */
  readonly exportKinds: readonly string[]
  /** Columns of `roll_ups` in which it can count; if empty, it is not counted. */
  readonly countedAs: readonly string[]
  /** Whether the recipient caused it with a browser or via a mailbox provider, so that it is reported with `ip` and `userAgent`. */
  readonly byReader: boolean
  /** It belongs to the account, and to no message. */
  readonly ofAccount?: true
  /** The detail of the sample event in webhook tests. */
  readonly sample: EventDetail
}

const READER = { ip: '192.0.2.9', userAgent: 'Mozilla/5.0' } as const

/** Common parts of the events that belong to no message. */
const OF_ACCOUNT = {
  log: { filter: null, statuses: [], indexed: false },
  exportKinds: [],
  countedAs: [],
  byReader: false,
  ofAccount: true,
} as const

/**
 * The types of events. A new type needs a row here, a producer that calls `insertEvents`, and a migration that adds its name to the
 * check of `events.type` and, if it is counted or indexed, its column and index.
 */
export const EVENT_TYPE_TABLE = {
  processed: {
    meaning: 'A message was accepted for the recipient.',
    producers: ['messages/insert-messages.ts'],
    v2: null,
    v3: 'processed',
    log: { filter: 'processed', statuses: [], indexed: false },
    exportKinds: ['processed'],
    countedAs: ['processed'],
    byReader: false,
    sample: {},
  },
  sent: {
    meaning: "The recipient's server accepted the message.",
    producers: ['delivery/outcomes/record.ts', 'delivery/outcomes/settle-delivered.ts'],
    v2: 'sent',
    v3: 'delivered',
    log: { filter: 'sent', statuses: [], indexed: false },
    exportKinds: ['sent'],
    countedAs: ['sent'],
    byReader: false,
    sample: {
      attempt: 1,
      host: 'mx.harbor.example',
      tls: 'TLSv1.3',
      code: 250,
      enhanced: '2.0.0',
      reply: 'Ok: queued as 4F2A',
    },
  },
  deferred: {
    meaning: 'An attempt failed temporarily, or the operator requeued the delivery; the message is tried again.',
    producers: ['delivery/outcomes/record.ts', 'delivery/leases/lease.ts', 'messages/requeue/move.ts'],
    v2: null,
    v3: 'deferred',
    log: { filter: null, statuses: [], indexed: false },
    exportKinds: ['deferred'],
    countedAs: ['deferred'],
    byReader: false,
    sample: { attempt: 1, code: 451, enhanced: '4.7.1', reply: 'try again later' },
  },
  bounced: {
    meaning: 'A server rejected the message permanently.',
    producers: ['delivery/outcomes/record.ts', 'returns/late-bounce.ts'],
    v2: 'bounced',
    v3: 'bounce',
    log: { filter: 'bounce', statuses: ['hardbounce', 'softbounce'], indexed: true },
    exportKinds: ['hardbounce', 'softbounce'],
    countedAs: ['hard_bounced', 'soft_bounced'],
    byReader: false,
    sample: { attempt: 1, code: 550, enhanced: '5.1.1', reply: 'user unknown', class: 'bad-mailbox' },
  },
  dropped: {
    meaning:
      'The message was not sent: the recipient is suppressed, or the message cannot be composed or was cancelled.',
    producers: [
      'messages/insert-messages.ts',
      'messages/batches.ts',
      'delivery/queue/drop-queued.ts',
      'delivery/outcomes/record.ts',
      'delivery/outcomes/set-aside.ts',
      'retention/privacy/erase-traces.ts',
    ],
    v2: 'dropped',
    v3: 'dropped',
    log: { filter: 'dropped', statuses: [], indexed: true },
    exportKinds: ['dropped'],
    countedAs: ['dropped', 'late_dropped', 'bounce_dropped', 'complaint_dropped', 'unsubscribe_dropped'],
    byReader: false,
    sample: { reason: 'hardbounce' },
  },
  invalid: {
    meaning: 'The message was not sent: the recipient is not a valid address.',
    producers: ['messages/insert-messages.ts'],
    v2: 'invalid',
    v3: 'dropped',
    log: { filter: 'invalid', statuses: [], indexed: true },
    exportKinds: ['invalid'],
    countedAs: ['invalid'],
    byReader: false,
    sample: {},
  },
  // To clients, expired mail is a soft bounce: the next message may arrive.
  expired: {
    meaning: 'No attempt succeeded before the message expired.',
    producers: ['delivery/outcomes/record.ts'],
    v2: 'bounced',
    v3: 'bounce',
    log: { filter: 'bounce', statuses: [], indexed: true },
    exportKinds: ['softbounce'],
    countedAs: ['expired'],
    byReader: false,
    sample: { attempt: 30, code: 451, enhanced: '4.4.1', reply: 'no answer' },
  },
  opened: {
    meaning: 'The message was opened.',
    producers: ['tracking/classify-hits.ts'],
    v2: 'opened',
    v3: 'open',
    log: { filter: 'open', statuses: ['open'], indexed: true },
    exportKinds: ['opened'],
    countedAs: ['opened', 'unique_opened', 'machine_opened'],
    byReader: true,
    sample: READER,
  },
  clicked: {
    meaning: 'A link of the message was clicked.',
    producers: ['tracking/classify-hits.ts'],
    v2: 'clicked',
    v3: 'click',
    log: { filter: 'click', statuses: ['click'], indexed: true },
    exportKinds: ['clicked'],
    countedAs: ['clicked', 'unique_clicked', 'machine_clicked'],
    byReader: true,
    sample: { ...READER, url: 'https://ship.example/b/4' },
  },
  unsubscribed: {
    meaning: 'The recipient unsubscribed, from all messages or from a group.',
    producers: ['tracking/choice-events.ts'],
    v2: 'unsubscribed',
    v3: 'unsubscribe',
    log: { filter: 'unsubscribe', statuses: ['unsubscribe'], indexed: true },
    exportKinds: ['unsubscribed'],
    countedAs: ['unsubscribed'],
    byReader: true,
    sample: READER,
  },
  resubscribed: {
    meaning: 'The recipient subscribed again, to all messages or to a group.',
    producers: ['tracking/choice-events.ts'],
    v2: null,
    v3: 'group_resubscribe',
    log: { filter: null, statuses: [], indexed: false },
    exportKinds: [],
    countedAs: [],
    byReader: true,
    sample: { ...READER, group: 1 },
  },
  complained: {
    meaning: 'The recipient marked the message as spam.',
    producers: ['returns/complaint.ts'],
    v2: 'spam',
    v3: 'spamreport',
    log: { filter: 'spam', statuses: ['spam'], indexed: true },
    exportKinds: ['spam'],
    countedAs: ['complained'],
    byReader: true,
    sample: {},
  },
  account: {
    meaning:
      'Mail of the account is slowed, held or released, or its figures are a reason for a warning. It belongs to no message.',
    producers: ['reputation/account-change.ts'],
    v2: 'account',
    v3: 'account',
    ...OF_ACCOUNT,
    sample: {
      rule: 'bounces',
      before: 'good',
      after: 'held',
      classes: ['bulk'],
      figures: { bounces: 60, outcomes: 500, share: 0.12 },
    },
  },
  domain: {
    meaning: 'A sending domain became active or ceased to be. It belongs to no message.',
    producers: ['domains/store.ts'],
    v2: null,
    v3: null,
    ...OF_ACCOUNT,
    sample: {},
  },
  domain_inactive: {
    meaning: 'A sending domain ceased to be active: mail from it is refused. It belongs to no message.',
    producers: ['domains/store.ts'],
    v2: 'domain.inactive',
    v3: 'domain.inactive',
    ...OF_ACCOUNT,
    sample: { domain: 'ship.example', before: 'active', after: 'pending' },
  },
  webhook_disabled: {
    meaning: 'The service disabled a webhook, because its URL is gone or failed for days. It belongs to no message.',
    producers: ['reporting/webhooks/finish.ts'],
    v2: 'webhook.disabled',
    v3: 'webhook.disabled',
    ...OF_ACCOUNT,
    sample: { webhook: 4, url: 'https://ship.example/hook', reason: 'received status 410 Gone' },
  },
  key_expiring: {
    meaning: 'An API key expires within 14 days. It belongs to no message.',
    producers: ['accounts/notices/expiring-keys.ts'],
    v2: 'key.expiring',
    v3: 'key.expiring',
    ...OF_ACCOUNT,
    sample: { key: 12, keyName: 'shop', expiresAt: '2026-02-01T00:00:00.000Z' },
  },
} as const satisfies Readonly<Record<string, EventTypeRow>>

type Table = typeof EVENT_TYPE_TABLE
export type EventType = keyof Table

export const EVENT_TYPES = Object.keys(EVENT_TYPE_TABLE) as EventType[]

/** The events a webhook can report: those with a name in one of the formats. */
export type WebhookEvent = {
  [T in EventType]: Table[T]['v2'] extends null ? (Table[T]['v3'] extends null ? never : T) : T
}[EventType]
export const WEBHOOK_EVENTS = EVENT_TYPES.filter(isWebhookEvent)

/**
 * The events of a webhook for "all": not those without a recipient, which a receiver of the v2 format may not expect. They are only sent to
 * webhooks that name them.
 */
export const RECIPIENT_EVENTS: readonly WebhookEvent[] = WEBHOOK_EVENTS.filter((type) => !isOfAccount(type))

/** Whether events of this type belong to the account, and to no message. */
export function isOfAccount(type: EventType): boolean {
  return eventType(type).ofAccount === true
}

/** Whether a webhook can report events of this type. */
export function isWebhookEvent(type: EventType): type is WebhookEvent {
  const { v2, v3 } = eventType(type)
  return v2 !== null || v3 !== null
}

/** The names of events in exports. */
export type ExportKind = Table[EventType]['exportKinds'][number]
export const EXPORT_KINDS: readonly ExportKind[] = [
  ...new Set(EVENT_TYPES.flatMap((type): readonly ExportKind[] => EVENT_TYPE_TABLE[type].exportKinds)),
]

/** The metrics, which are columns of `roll_ups`. */
export type Metric = Table[EventType]['countedAs'][number]
export const METRICS: readonly Metric[] = EVENT_TYPES.flatMap(
  (type): readonly Metric[] => EVENT_TYPE_TABLE[type].countedAs,
)

/** Returns the row of a type. */
export function eventType(type: EventType): EventTypeRow {
  return EVENT_TYPE_TABLE[type]
}

/** Returns the types whose rows satisfy a condition. */
export function eventTypesWhere(holds: (row: EventTypeRow, type: EventType) => boolean): EventType[] {
  return EVENT_TYPES.filter((type) => holds(EVENT_TYPE_TABLE[type], type))
}

export type { Event, EventDelivery } from './event.ts'
export type { EventDetail } from './event-detail.ts'
export { eventWord } from './event-names.ts'
export {
  EVENT_TYPE_TABLE,
  EVENT_TYPES,
  type EventType,
  type EventTypeRow,
  EXPORT_KINDS,
  type ExportKind,
  eventType,
  RECIPIENT_EVENTS,
  WEBHOOK_EVENTS,
  type WebhookEvent,
} from './event-types.ts'

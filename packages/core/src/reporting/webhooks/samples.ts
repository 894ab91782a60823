import type { Event } from '../../events/event.ts'
import { eventType, isOfAccount, WEBHOOK_EVENTS, type WebhookEvent } from '../../events/event-types.ts'

/** Returns one sample event of each of these types. */
export function sampleEvents(types: readonly WebhookEvent[], now: Date): Event[] {
  return WEBHOOK_EVENTS.filter((type) => types.includes(type)).map((type) => ({
    number: 0,
    occurredAt: now,
    type,
    detail: eventType(type).sample,
    id: `test_${type}`,
    delivery: isOfAccount(type)
      ? null
      : {
          messageId: '0'.repeat(32),
          recipientNo: 0,
          transactionNumber: '17676078720000004',
          recipient: 'lena@harbor.example',
          from: 'desk@ship.example',
          subject: 'A test of the webhook',
          tags: ['test'],
          reference: 'test',
          group: null,
          template: null,
          pool: null,
          sourceAddress: null,
          size: 1834,
          acceptedAt: now,
          scheduledAt: null,
          customArgs: null,
          ownMessageId: null,
          envelope: 0,
        },
  }))
}

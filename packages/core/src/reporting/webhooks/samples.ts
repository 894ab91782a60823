import type { Event, EventDetail } from '../events/event.ts'
import { WEBHOOK_EVENTS, type WebhookEvent } from './webhook.ts'

const READER = { ip: '192.0.2.9', userAgent: 'Mozilla/5.0' }

const DETAILS: Readonly<Partial<Record<WebhookEvent, EventDetail>>> = {
  sent: {
    attempt: 1,
    host: 'mx.harbor.example',
    tls: 'TLSv1.3',
    code: 250,
    enhanced: '2.0.0',
    reply: 'Ok: queued as 4F2A',
  },
  deferred: { attempt: 1, code: 451, enhanced: '4.7.1', reply: 'try again later' },
  bounced: { attempt: 1, code: 550, enhanced: '5.1.1', reply: 'user unknown', class: 'bad-mailbox' },
  expired: { attempt: 30, code: 451, enhanced: '4.4.1', reply: 'no answer' },
  dropped: { reason: 'hardbounce' },
  opened: READER,
  clicked: { ...READER, url: 'https://ship.example/b/4' },
  unsubscribed: READER,
  complained: {},
}

/** One event of each of these types, about mail that never was. */
export function sampleEvents(types: readonly WebhookEvent[], now: Date): Event[] {
  return WEBHOOK_EVENTS.filter((type) => types.includes(type)).map((type) => ({
    ...{ number: 0, occurredAt: now, type, detail: DETAILS[type] ?? {} },
    id: `test_${type}`,
    delivery: {
      ...{ messageId: '0'.repeat(32), recipientNo: 0, transactionNumber: '17676078720000004' },
      ...{ recipient: 'lena@harbor.example', from: 'desk@ship.example', subject: 'A test of the webhook' },
      ...{
        tags: ['test'],
        reference: 'test',
        group: null,
        template: null,
        size: 1834,
        acceptedAt: now,
        scheduledAt: null,
        customArgs: null,
        ownMessageId: null,
        envelope: 0,
      },
    },
  }))
}

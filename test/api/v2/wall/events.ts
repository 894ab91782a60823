import { acceptMessage, envelopeTo } from '../../../core/submission.ts'
import { numberEvents } from '../../../helpers/number-events.ts'
import type { Caller, Setting, Wall } from './entry.ts'

/** A message of the owner's to an address of his alone, with the events it makes. */
async function send({ service }: Setting, owner: Caller): Promise<string> {
  const mark = 'mark-of-the-owner@harbor.example'
  await acceptMessage(service, { ...owner, accountName: '' }, { envelopes: [envelopeTo(mark)] })
  await numberEvents(service)
  return mark
}

export const events: Wall = {
  listEvents: { kind: 'list', make: send, input: { startdate: '2026-01-01', sort: 'desc' } },
  explainDelivery: {
    kind: 'object',
    make: async ({ service }, owner) => {
      const { messageId } = await acceptMessage(service, { ...owner, accountName: '' }, {})
      return { messageid: messageId }
    },
    missing: { messageid: '0'.repeat(32) },
    seen: (input) => ['explainDelivery', input],
  },
  readEventFeed: { kind: 'list', make: send, input: { after: 0, limit: 1000 } },
  listenToWebhookEvents: { kind: 'list', make: send, input: { after: 0, format: 'v3', events: 'processed' } },
}

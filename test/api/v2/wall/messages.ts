import { acceptMessage, envelopeTo } from '../../../core/submission.ts'
import type { Caller, Input, Setting, Wall } from './entry.ts'

/** One that waits for its time. */
async function schedule({ service }: Setting, owner: Caller): Promise<Input> {
  const tomorrow = new Date(Date.now() + 86_400_000)
  const { messageId } = await acceptMessage(service, { ...owner, accountName: '' }, { scheduledAt: tomorrow })
  return { messageId }
}

const UNKNOWN = { messageId: '0'.repeat(32) }

/** A message of the owner's. */
async function send({ service }: Setting, owner: Caller): Promise<Input> {
  const { messageId } = await acceptMessage(service, { ...owner, accountName: '' }, {})
  return { messageId }
}

export const messages: Wall = {
  listMessages: {
    kind: 'list',
    make: async ({ service }, owner) => {
      const mark = 'mark-in-the-list@harbor.example'
      await acceptMessage(service, { ...owner, accountName: '' }, { envelopes: [envelopeTo(mark)] })
      return mark
    },
  },
  showMessage: { kind: 'object', make: send, missing: UNKNOWN, seen: (input) => ['showMessage', input] },
  resend: {
    kind: 'object',
    async make(setting, owner) {
      // While recipients are being erased, nothing is sent again.
      await setting.service.sql`delete from forget_requests where account_id = ${owner.accountId}`
      return send(setting, owner)
    },
    missing: UNKNOWN,
    seen: (input) => ['showMessage', input],
  },
  rescheduleMessage: {
    kind: 'object',
    make: async (setting, owner) => ({
      ...(await schedule(setting, owner)),
      schedule: Math.floor(Date.now() / 1000) + 2 * 86_400,
    }),
    missing: UNKNOWN,
    seen: ({ messageId }) => ['showMessage', { messageId }],
  },
  downloadAttachment: {
    kind: 'object',
    make: async ({ service }, owner) => {
      const attachments = [{ fileName: 'a.txt', content: Buffer.from('a') }]
      const { messageId } = await acceptMessage(service, { ...owner, accountName: '' }, { attachments })
      return { messageId, index: 0 }
    },
    missing: UNKNOWN,
    seen: ({ messageId }) => ['showMessage', { messageId }],
  },
}

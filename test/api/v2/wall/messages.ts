import { acceptMessage, envelopeTo } from '../../../core/submission.ts'
import type { Caller, Input, Setting, Wall } from './entry.ts'

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

import type { Wall } from './entry.ts'

const file = { fileName: 'plan of the owner.txt', fileContent: 'UGxhbg==' }

export const attachments: Wall = {
  uploadAttachment: {
    kind: 'own',
    input: { ...file, fileName: 'theirs.txt' },
    seen: ['listAttachments', { limit: 100 }],
  },
  listAttachments: {
    kind: 'list',
    input: { limit: 100 },
    make: async ({ act }, owner) => {
      await act(owner, 'uploadAttachment', file)
      return file.fileName
    },
  },
  deleteAttachment: {
    kind: 'object',
    make: async ({ act }, owner) => {
      const { attachmentId } = (await act(owner, 'uploadAttachment', file)) as { attachmentId: number }
      return { attachmentId }
    },
    missing: { attachmentId: 999_999 },
    seen: () => ['listAttachments', { limit: 100 }],
  },
}

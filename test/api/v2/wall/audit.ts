import type { Wall } from './entry.ts'

export const audit: Wall = {
  listAudit: {
    kind: 'list',
    async make({ service }, owner) {
      await service.sql`select audit_note(${owner.accountId}, null, null, 'test.mark', 'the owner''s mark', null, null)`
      return "the owner's mark"
    },
    // What the other operations did before stands in front of it.
    input: { limit: 1000 },
  },
}

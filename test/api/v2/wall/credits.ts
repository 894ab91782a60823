import type { Wall } from './entry.ts'

const today = new Date().toISOString().slice(0, 10)
const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

export const credits: Wall = {
  getCredit: {
    kind: 'list',
    async make({ service }, owner) {
      await service.core.credits.limit(owner.accountId, 40_517)
      return '40517'
    },
    input: { startdate: yesterday, enddate: today },
  },
}

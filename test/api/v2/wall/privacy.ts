import type { Input, Wall } from './entry.ts'

const LENA = 'lena.wall@harbor.example'

export const privacy: Wall = {
  forgetPerson: {
    kind: 'own',
    async make({ service }, owner) {
      await service.core.suppressions.add({
        accountId: owner.accountId,
        scope: 'address',
        value: LENA,
        reason: 'unsubscribe',
      })
    },
    input: { email: LENA },
    seen: ['listForgetRequests', {}],
  },
  showForgetRequest: {
    kind: 'object',
    async make({ act }, owner) {
      const { requestId } = (await act(owner, 'forgetPerson', { email: 'mina.wall@harbor.example' })) as Input
      return { requestId }
    },
    missing: { requestId: 'gd_00000000000000000000000000000000' },
    seen: ({ requestId }) => ['showForgetRequest', { requestId }],
  },
  listForgetRequests: {
    kind: 'list',
    async make({ act }, owner) {
      const { requestId } = (await act(owner, 'forgetPerson', { email: 'tara.wall@harbor.example' })) as Input
      return String(requestId)
    },
    input: {},
  },
  exportPerson: {
    kind: 'list',
    async make({ service }, owner) {
      const reason = 'abuse'
      await service.core.suppressions.add({ accountId: owner.accountId, scope: 'address', value: LENA, reason })
      return '"hashed"'
    },
    input: { email: LENA },
  },
}

import type { Wall } from './entry.ts'

export const account: Wall = {
  showAccount: {
    kind: 'list',
    async make({ act }, owner) {
      await act(owner, 'changeAccount', { footerText: "the owner's footer" })
      return "the owner's footer"
    },
  },
  changeAccount: { kind: 'own', input: { footerText: 'of somebody else' }, seen: ['showAccount', {}] },
}

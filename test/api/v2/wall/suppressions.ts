import type { Caller, Setting, Wall } from './entry.ts'

let made = 0

async function suppress({ act }: Setting, owner: Caller): Promise<string> {
  const email = `held${++made}@harbor.example`
  await act(owner, 'addSuppression', { email })
  return email
}

const SHARED = 'both@harbor.example'
const seen = ['listSuppressions', {}] as const
const make = ({ act }: Setting, owner: Caller) => act(owner, 'addSuppression', { email: SHARED })

export const suppressions: Wall = {
  addSuppression: { kind: 'own', input: { email: 'added@harbor.example', reason: 'abuse' }, seen },
  removeSuppression: { kind: 'own', make, input: { email: SHARED }, seen },
  importSuppressions: { kind: 'own', make, input: { csv: `email\n${SHARED}\nimported@harbor.example\n` }, seen },
  listSuppressions: { kind: 'list', make: suppress },
  exportSuppressions: { kind: 'list', make: suppress },
  checkSuppression: {
    kind: 'list',
    async make(setting, owner) {
      await setting.act(owner, 'addSuppression', { domain: 'walled.example' })
      return '"suppressed":true'
    },
    input: { email: 'x@walled.example' },
  },
}

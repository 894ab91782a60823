import type { Caller, Input, Setting, Wall, WallEntry } from './entry.ts'

let made = 0

async function makeKey({ act }: Setting, owner: Caller): Promise<{ id: number; name: string }> {
  const name = `key-${++made}`
  const { id } = (await act(owner, 'createKey', { name, scopes: ['send'] })) as { id: number }
  return { id, name }
}

const ofOne = (more: Input): WallEntry => ({
  kind: 'object',
  make: async (setting, owner) => ({ id: (await makeKey(setting, owner)).id, ...more }),
  missing: { id: 2_000_000_000 },
  seen: ({ id }) => ['listKeys', { after: Number(id) - 1, limit: 1 }],
})

export const keys: Wall = {
  showKey: { kind: 'list', make: async (_setting, { accountId }) => `"account":{"id":${accountId},` },
  // How many there are: the keys themselves say when they were last used, which goes on.
  createKey: { kind: 'own', input: { name: 'mine' }, seen: ['listKeys', { after: 2_000_000_000 }] },
  listKeys: { kind: 'list', make: async (setting, owner) => (await makeKey(setting, owner)).name },
  updateKey: ofOne({ name: 'renamed' }),
  rotateKey: ofOne({ overlap_hours: 0 }),
  revokeKey: ofOne({}),
}

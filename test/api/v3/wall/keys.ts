import type { Caller, Setting, Wall, WallEntry } from './entry.ts'

let made = 0

async function makeKey({ act }: Setting, owner: Caller): Promise<{ name: string; params: { api_key_id: string } }> {
  const name = `wall key ${++made}`
  const { api_key_id } = (await act(owner, 'createKey', { body: { name } })) as { api_key_id: string }
  return { name, params: { api_key_id } }
}

const ofKey: WallEntry = {
  kind: 'object',
  make: async (setting, owner) => ({
    params: (await makeKey(setting, owner)).params,
    body: { name: 'taken over' },
  }),
  missing: { params: { api_key_id: '2000000000' } },
  seen: ({ params }) => ['viewKey', { params: params ?? {} }],
}

export const keys: Wall = {
  createKey: { kind: 'own', input: { body: { name: 'made by a stranger' } }, seen: ['listKeys', {}] },
  listKeys: { kind: 'list', make: async (setting, owner) => (await makeKey(setting, owner)).name },
  viewKey: ofKey,
  renameKey: ofKey,
  replaceKey: ofKey,
}

import type { Caller, Input, Setting, Wall, WallEntry } from './entry.ts'

let made = 0

async function makeGroup({ act }: Setting, owner: Caller): Promise<{ id: number; name: string; email: string }> {
  const name = `wall group ${++made}`
  const email = `wall${made}@harbor.example`
  const { id } = (await act(owner, 'createGroup', { body: { name } })) as { id: number }
  await act(owner, 'addToGroup', { params: { group_id: id }, body: { recipient_emails: [email] } })
  return { id, name, email }
}

const NONE = 2_000_000_000

function ofGroup(extra: (group: { id: number; email: string }) => Input = () => ({})): WallEntry {
  return {
    kind: 'object',
    async make(setting, owner) {
      const group = await makeGroup(setting, owner)
      const input = extra(group)
      return { ...input, params: { group_id: group.id, ...input.params } }
    },
    missing: { params: { group_id: NONE, email: 'wall@harbor.example' } },
    seen: (input) => ['listGroupSuppressions', { params: { group_id: Number(input.params?.group_id) } }],
  }
}

const somebody = { recipient_emails: ['stranger@harbor.example'] }
const ownSuppression: WallEntry = {
  kind: 'own',
  make: ({ act }, owner) => act(owner, 'addToGlobal', { body: { recipient_emails: ['held@harbor.example'] } }),
  input: { params: { email: 'held@harbor.example' }, body: somebody },
  seen: ['listUnsubscribes', {}],
}

export const suppressionGroups: Wall = {
  listGroups: { kind: 'list', make: async (setting, owner) => (await makeGroup(setting, owner)).name },
  createGroup: { kind: 'own', input: { body: { name: 'made by a stranger' } }, seen: ['listGroups', {}] },
  viewGroup: ofGroup(),
  editGroup: ofGroup(() => ({ body: { name: 'taken over' } })),
  // To a stranger there is no such group: what it adds is its own.
  addToGroup: {
    kind: 'own',
    make: makeGroup,
    input: { params: { group_id: 1 }, body: somebody },
    seen: ['listGroupsSuppressed', {}],
  },
  listGroupSuppressions: ofGroup(),
  searchGroupSuppressions: ofGroup(({ email }) => ({ body: { recipient_emails: [email] } })),
  removeFromGroup: ofGroup(({ email }) => ({ params: { email } })),
  addToGlobal: ownSuppression,
  viewGlobal: {
    kind: 'list',
    async make({ act }, owner) {
      await act(owner, 'addToGlobal', { body: { recipient_emails: ['marked@harbor.example'] } })
      return 'marked@harbor.example'
    },
    input: { params: { email: 'marked@harbor.example' } },
  },
  removeFromGlobal: ownSuppression,
  listGroupsSuppressed: { kind: 'list', make: async (setting, owner) => (await makeGroup(setting, owner)).email },
  viewGroupsOf: {
    kind: 'list',
    make: async (setting, owner) => (await makeGroup(setting, owner)).name,
    input: { params: { email: 'wall1@harbor.example' } },
  },
}

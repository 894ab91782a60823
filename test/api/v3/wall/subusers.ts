import type { Caller, Setting, Wall, WallEntry } from './entry.ts'

let made = 0

/** By hand: the owner is a subaccount itself, which cannot have any. */
async function makeSubuser({ service }: Setting, owner: Caller): Promise<string> {
  const { accountId } = await service.makeSender()
  const username = `wall${++made}`
  await service.sql`
    update accounts set parent_id = ${owner.accountId}, username = ${username}, email = 'w@ship.example' where id = ${accountId}`
  return username
}

const ofSubuser: WallEntry = {
  kind: 'object',
  make: async (setting, owner) => ({
    params: { subuser_name: await makeSubuser(setting, owner) },
    body: { disabled: true },
  }),
  missing: { params: { subuser_name: 'never-was' } },
  seen: () => ['listSubusers', {}],
}

export const subusers: Wall = {
  createSubuser: {
    kind: 'own',
    owner: ({ service }) => service.makeSender(),
    input: { body: { username: 'stranger', email: 's@ship.example', password: 'Anchor77x' } },
    seen: ['listSubusers', {}],
  },
  listSubusers: { kind: 'list', make: makeSubuser },
  disableSubuser: ofSubuser,
  deleteSubuser: {
    ...ofSubuser,
    make: async (setting, owner) => ({ params: { subuser_name: await makeSubuser(setting, owner) } }),
  },
}

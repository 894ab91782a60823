import type { Member } from '@postrider/core'
import Type from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { notFound, refuses } from '../refusal.ts'

const ALL = '/teammates'
/** As many members are listed at all. */
const MAX_PAGE = 500
const common = { scope: 'account', section: '7.1', right: 'teammates.read', status: 200, method: 'GET' } as const
const BY_PEOPLE = { none: 'members invite and remove each other in the dashboard; keys belong to programs' }

/** The members of the account, who log in to the dashboard. Only people invite and remove people (decision 24). */
export const TEAMMATES: readonly Operation[] = [
  operation({
    name: 'listTeammates',
    summary: 'List the members of the account',
    cli: 'user list',
    ...common,
    path: ALL,
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_PAGE })),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
    }),
    act: async ({ query: { limit = MAX_PAGE, offset = 0 } }, { core, principal }) => {
      const all = await core.people.members.list(principal.account.id)
      return { result: all.slice(offset, offset + limit).map(shown) }
    },
  }),
  operation({
    name: 'inviteTeammate',
    summary: 'Reject the invitation of a member',
    cli: BY_PEOPLE,
    ...common,
    method: 'POST',
    right: 'teammates.create',
    path: ALL,
    status: 400,
    anyBody: true,
    act: refuses(400, 'Members are invited in the dashboard, under Team: a key cannot invite people.'),
  }),
  operation({
    name: 'listPendingTeammates',
    summary: 'List the open invitations to the account',
    cli: BY_PEOPLE,
    ...common,
    path: `${ALL}/pending`,
    act: async (_input, { core, principal }) => {
      const open = await core.people.invitations.list(principal.account.id)
      const result = open.map(({ id, email, role, expiresAt }) => ({
        email,
        scopes: [],
        is_admin: role === 'owner',
        token: String(id),
        expiration_date: Math.floor(expiresAt.getTime() / 1000),
      }))
      return { result }
    },
  }),
  operation({
    name: 'viewTeammate',
    summary: 'Show a member of the account, by name',
    cli: 'user list',
    ...common,
    path: `${ALL}/:username`,
    params: Type.Object({ username: Type.String({ maxLength: 255 }) }),
    act: async ({ params }, { core, principal }) => {
      const all = await core.people.members.list(principal.account.id)
      const member = all.find((one) => usernameOf(one) === params.username)
      if (!member) throw notFound()
      return { ...shown(member), scopes: [] }
    },
  }),
]

function usernameOf({ email, name }: Member): string {
  return email ?? name
}

function shown(member: Member) {
  const { name, email, role } = member
  const [first = '', ...others] = name.split(' ')
  return {
    username: usernameOf(member),
    email: email ?? '',
    first_name: first,
    last_name: others.join(' '),
    user_type: role === 'owner' ? 'owner' : 'teammate',
    is_admin: role === 'owner',
    phone: '',
    website: '',
    address: '',
    address2: '',
    city: '',
    state: '',
    zip: '',
    country: '',
  }
}

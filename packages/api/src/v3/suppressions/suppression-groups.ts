import { type CountedGroup, defined, type UnsubscribeGroup } from '@postrider/core'
import Type from 'typebox'
import { type Operation, operation } from '../operation.ts'

export const OfGroup = Type.Object({ group_id: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }) })
const GroupBody = {
  name: Type.String(),
  description: Type.String(),
  is_default: Type.Boolean(),
}
const suppressing = { scope: 'suppressions' } as const

/** Unsubscribe groups (contract section 6). */
export const SUPPRESSION_GROUPS: readonly Operation[] = [
  operation({
    name: 'listGroups',
    summary: 'List the unsubscribe groups with their number of unsubscribes',
    cli: 'group list',
    ...suppressing,
    section: '6.3',
    method: 'GET',
    path: '/asm/groups',
    right: 'asm.groups.read',
    status: 200,
    query: Type.Object({ id: Type.Optional(Type.Array(Type.Integer(), { maxItems: 200 })) }),
    act: async ({ query }, { core, principal }) =>
      (await core.groups.list(principal.account.id, query.id)).map(countedGroup),
  }),
  operation({
    name: 'createGroup',
    summary: 'Create an unsubscribe group',
    cli: 'group create',
    ...suppressing,
    section: '6.3',
    method: 'POST',
    path: '/asm/groups',
    right: 'asm.groups.create',
    status: 201,
    body: Type.Object({
      name: GroupBody.name,
      description: Type.Optional(GroupBody.description),
      is_default: Type.Optional(GroupBody.is_default),
    }),
    act: async ({ body }, { core, principal, by }) => {
      const { name, description = '', is_default: isDefault = false } = body
      return bareGroup(await core.groups.create(principal.account.id, { name, description, isDefault }, by))
    },
  }),
  operation({
    name: 'viewGroup',
    summary: 'Show an unsubscribe group',
    cli: 'group show',
    ...suppressing,
    section: '6.3',
    method: 'GET',
    path: '/asm/groups/:group_id',
    right: 'asm.groups.read',
    params: OfGroup,
    status: 200,
    act: async ({ params }, { core, principal }) =>
      countedGroup(await core.groups.show(principal.account.id, params.group_id)),
  }),
  operation({
    name: 'editGroup',
    summary: 'Change the name, description or default of a group',
    cli: 'group update',
    ...suppressing,
    section: '6.3',
    method: 'PATCH',
    path: '/asm/groups/:group_id',
    right: 'asm.groups.update',
    params: OfGroup,
    status: 201,
    body: Type.Partial(Type.Object(GroupBody)),
    act: async ({ params, body }, { core, principal, by }) => {
      const { name, description, is_default: isDefault } = body
      const change = {
        ...defined({ name, description, isDefault }),
      }
      return bareGroup(await core.groups.change({ accountId: principal.account.id, id: params.group_id, by }, change))
    },
  }),
  operation({
    name: 'deleteGroup',
    summary: 'Delete a group. Its unsubscribes are kept and its id is not reused',
    cli: 'group delete',
    ...suppressing,
    section: '6.3',
    method: 'DELETE',
    path: '/asm/groups/:group_id',
    right: 'asm.groups.delete',
    params: OfGroup,
    status: 204,
    act: ({ params }, { core, principal, by }) =>
      core.groups.remove({ accountId: principal.account.id, id: params.group_id, by }),
  }),
]

/** A group as v3 shows it, without the number of addresses. */
export function bareGroup({ id, name, description, isDefault }: UnsubscribeGroup) {
  return { id, name, description, is_default: isDefault }
}

function countedGroup(group: CountedGroup) {
  const { id, name, description, is_default } = bareGroup(group)
  return { name, id, description, is_default, unsubscribes: group.unsubscribes }
}

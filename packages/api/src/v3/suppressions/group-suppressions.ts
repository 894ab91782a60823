import { addressKey, ServiceError } from '@postrider/core'
import Type from 'typebox'
import { type Call, type Operation, operation } from '../operation.ts'
import { sendPageLinks, totalOf } from '../page-links.ts'
import { notFound, refuse } from '../refusal.ts'
import { bareGroup, OfGroup } from './suppression-groups.ts'

/** Reasons that v3 calls a global unsubscribe; its other lists have the other reasons (suppressions.ts). */
export const GLOBAL_REASONS = ['unsubscribe', 'manual'] as const

const OfGroupAndAddress = Type.Object({ ...OfGroup.properties, email: Type.String({ minLength: 1 }) })
export const OfAddress = Type.Object({ email: Type.String({ minLength: 1 }) })
const Addresses = Type.Object({ recipient_emails: Type.Array(Type.String()) })
const suppressing = { scope: 'suppressions' } as const

/** Unsubscribes from groups, and global unsubscribes (contract section 6). */
export const GROUP_SUPPRESSIONS: readonly Operation[] = [
  operation({
    name: 'addToGroup',
    summary: 'Suppress addresses for a group; for all mail if the group does not exist',
    cli: 'suppression add',
    ...suppressing,
    section: '6.1',
    method: 'POST',
    path: '/asm/groups/:group_id/suppressions',
    right: 'asm.groups.suppressions.create',
    params: OfGroup,
    body: Addresses,
    status: 201,
    act: async ({ params, body }, call) => {
      const { core, principal } = call
      const known = await core.groups.known(principal.account.id, [params.group_id])
      // Of the two possible behaviours, this one respects the recipients' wish, and it is the documented one (6.1).
      const global = !known.has(params.group_id)
      await suppress(call, body.recipient_emails, global ? undefined : params.group_id)
      return { recipient_emails: body.recipient_emails, global }
    },
  }),
  operation({
    name: 'listGroupSuppressions',
    summary: 'List the addresses unsubscribed from a group',
    cli: 'suppression list',
    ...suppressing,
    section: '6.3',
    method: 'GET',
    path: '/asm/groups/:group_id/suppressions',
    right: 'asm.groups.suppressions.read',
    params: OfGroup,
    status: 200,
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
    }),
    act: async ({ params, query: { limit = 10_000, offset = 0 } }, call) => {
      const { core, principal } = call
      const { id } = await core.groups.show(principal.account.id, params.group_id)
      const found = await leftGroups(call, { group: id, limit, offset })
      return found.map(({ email }) => email)
    },
  }),
  operation({
    name: 'searchGroupSuppressions',
    summary: 'Find which of these addresses are unsubscribed from a group',
    cli: 'suppression list',
    ...suppressing,
    section: '6.3',
    method: 'POST',
    path: '/asm/groups/:group_id/suppressions/search',
    right: 'asm.groups.suppressions.read',
    params: OfGroup,
    body: Addresses,
    status: 200,
    act: async ({ params, body }, { core, principal }) => {
      const { id } = await core.groups.show(principal.account.id, params.group_id)
      if (body.recipient_emails.length === 0) return []
      const emails = asWritten(body.recipient_emails)
      const found = await core.suppressions.list(principal.account.id, {
        emails: [...emails.values()],
        group: id,
        limit: emails.size,
        offset: 0,
      })
      const left = new Set(found.suppressions.map(({ value }) => value))
      return [...emails].filter(([key]) => left.has(key)).map(([, email]) => email.trim().toLowerCase())
    },
  }),
  operation({
    name: 'removeFromGroup',
    summary: 'Remove an address from the unsubscribes of a group',
    cli: 'suppression remove',
    ...suppressing,
    section: '6.3',
    method: 'DELETE',
    path: '/asm/groups/:group_id/suppressions/:email',
    right: 'asm.groups.suppressions.delete',
    params: OfGroupAndAddress,
    status: 204,
    act: async ({ params }, { core, principal, by }) => {
      const { id } = await core.groups.show(principal.account.id, params.group_id)
      await core.suppressions.removeAll({ accountId: principal.account.id, emails: [params.email], group: id, by })
    },
  }),
  operation({
    name: 'addToGlobal',
    summary: 'Suppress addresses for all mail',
    cli: 'suppression add',
    ...suppressing,
    section: '6.2',
    method: 'POST',
    path: '/asm/suppressions/global',
    right: 'asm.suppressions.global.create',
    body: Addresses,
    status: 201,
    act: async ({ body }, call) => {
      await suppress(call, body.recipient_emails, undefined)
      return { recipient_emails: body.recipient_emails }
    },
  }),
  operation({
    name: 'viewGlobal',
    summary: 'Check whether an address is suppressed for all mail; {} if it is not',
    cli: 'suppression show',
    ...suppressing,
    section: '6.3',
    method: 'GET',
    path: '/asm/suppressions/global/:email',
    right: 'asm.suppressions.global.read',
    params: OfAddress,
    status: 200,
    act: async ({ params: { email } }, call) => ((await isGlobal(call, email)) ? { recipient_email: email } : {}),
  }),
  operation({
    name: 'removeFromGlobal',
    summary: 'Remove an address from the global unsubscribes. Succeeds also if it is not listed',
    cli: 'suppression remove',
    ...suppressing,
    section: '6.3',
    method: 'DELETE',
    path: '/asm/suppressions/global/:email',
    right: 'asm.suppressions.global.delete',
    params: OfAddress,
    status: 204,
    act: async ({ params: { email } }, call) => {
      const { core, principal, by } = call
      if (await isGlobal(call, email)) {
        await core.suppressions.removeAll({
          accountId: principal.account.id,
          emails: [email],
          reasons: GLOBAL_REASONS,
          by,
        })
      }
    },
  }),
  operation({
    name: 'listGroupsSuppressed',
    summary: 'List all group unsubscribes with their groups',
    cli: 'suppression export',
    ...suppressing,
    section: '6.3',
    method: 'GET',
    path: '/asm/suppressions',
    right: 'asm.suppressions.read',
    status: 200,
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
    }),
    act: async ({ query: { limit = 500, offset = 0 } }, call) => {
      const { core, principal } = call
      const accountId = principal.account.id
      const names = new Map((await core.groups.list(accountId)).map(({ id, name }) => [id, name]))
      const found = await leftGroups(call, { limit, offset })
      return found.map(({ email, group, since }) => ({
        email,
        group_id: group,
        group_name: names.get(group) ?? '',
        created_at: unixSeconds(since),
      }))
    },
  }),
  operation({
    name: 'viewGroupsOf',
    summary: 'List all groups and whether an address is unsubscribed from each',
    cli: 'suppression list',
    ...suppressing,
    section: '6.3',
    method: 'GET',
    path: '/asm/suppressions/:email',
    right: 'asm.suppressions.read',
    params: OfAddress,
    status: 200,
    act: async ({ params: { email } }, { core, principal }) => {
      const accountId = principal.account.id
      const groups = await core.groups.list(accountId)
      const { suppressions } = await core.suppressions.list(accountId, {
        emails: [email],
        limit: 10_000,
        offset: 0,
      })
      const left = new Set(suppressions.map(({ group }) => group))
      return {
        suppressions: groups.map((group) => ({ ...bareGroup(group), suppressed: left.has(group.id) })),
      }
    },
  }),
]

/** Returns a page of the addresses unsubscribed from a group, or from any group. */
async function leftGroups(
  call: Call,
  page: { readonly group?: number; readonly limit: number; readonly offset: number },
) {
  const { core, principal } = call
  const accountId = principal.account.id
  const found = await core.suppressions.ofGroups(accountId, page)
  const total = await totalOf(page, found.length, () => core.suppressions.countOfGroups(accountId, page.group))
  sendPageLinks(call, { ...page, total })
  return found
}

export function unixSeconds(at: Date): number {
  return Math.floor(at.getTime() / 1000)
}

/** Maps each address in its stored form to its first spelling in the request. */
function asWritten(emails: readonly string[]): Map<string, string> {
  return new Map(emails.map((email) => [addressKey(email), email]))
}

async function suppress(
  { core, principal, by }: Call,
  emails: readonly string[],
  group: number | undefined,
): Promise<void> {
  if (emails.length === 0) return
  await core.suppressions
    .addAll({ accountId: principal.account.id, emails, reason: 'unsubscribe', by, ...(group ? { group } : {}) })
    .catch((error: unknown) => {
      const wrong =
        error instanceof ServiceError &&
        (error.errorName === 'suppressionEmailInvalid' || error.errorName === 'suppressionDomainInvalid')
      throw wrong ? refuse(400, 'Each of recipient_emails must be a valid email address.', 'recipient_emails') : error
    })
}

/** Throws V3Refusal 404 for an invalid address, which cannot have an entry. */
async function isGlobal({ core, principal }: Call, email: string): Promise<boolean> {
  const held = await core.suppressions.holding(principal.account.id, email).catch((error: unknown) => {
    throw error instanceof ServiceError && error.errorName === 'suppressionEmailInvalid' ? notFound() : error
  })
  const reasons: readonly string[] = GLOBAL_REASONS
  return held.some(
    ({ group, global, scope, reason, unsubscribed }) =>
      group === 0 && !global && scope === 'address' && (unsubscribed || reasons.includes(reason)),
  )
}

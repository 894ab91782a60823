import { type ApiKey, invalidParameter } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { hadNulls } from '../body/null-elements.ts'
import { commaList } from '../comma-list.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { Count, pageOf } from '../shapes.ts'
import {
  Id,
  RestrictionsInput,
  restrictionsOf,
  ShownRestrictions,
  STRICT,
  shownRestrictions,
  Texts,
} from './key-restrictions.ts'

const Restricted = Type.Union([RestrictionsInput, Type.Null()], {
  description: 'omitted restrictions are unchanged; null removes one',
})

/** Contract section 1: the name, scopes and networks of a key. */
const Changes = {
  scopes: Type.Optional(Texts('operation groups, or all')),
  networks: Type.Optional(Type.Union([Texts('IP addresses or networks from which the key can be used'), Type.Null()])),
  restrictions: Type.Optional(Restricted),
}
const Name = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' })

const Key = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  prefix: Type.String({ description: 'first characters of the secret' }),
  scopes: Type.Array(Type.String()),
  networks: Type.Array(Type.String(), { description: 'empty: any address' }),
  restrictions: ShownRestrictions,
  state: Type.Union([Type.Literal('active'), Type.Literal('expired'), Type.Literal('revoked')]),
  created_at: Type.String(),
  last_used_at: Type.Union([Type.String(), Type.Null()], { description: 'accurate to one minute' }),
  revoked_at: Type.Union([Type.String(), Type.Null()]),
  replaced_by: Type.Union([Type.Integer(), Type.Null()], { description: 'after a rotation: id of the successor' }),
})
const Secret = { api_key: Type.String({ description: 'shown only once' }) }
const Made = Type.Object({ ...Key.properties, ...Secret })

const RESTRICTIONS = { sender_domains: ['ship.example'], recipients_per_hour: 500 }
const EXAMPLE = {
  id: 12,
  name: 'shop',
  prefix: 'pr_4kTz0w',
  scopes: ['send'],
  networks: ['192.0.2.0/24'],
  restrictions: RESTRICTIONS,
  state: 'active',
  created_at: '2026-01-05T10:11:12.000Z',
  last_used_at: null,
  revoked_at: null,
  replaced_by: null,
} as const satisfies Static<typeof Key>
const SECRET = { api_key: 'pr_4kTz0wQm8YbX2Ld7RcVn5HsJg1FtP0aBcDeF' }

/** The account's API keys. No operation gives a key more permissions than the calling key has. */
export const KEYS: readonly Operation[] = [
  operation({
    name: 'createKey',
    creates: true,
    summary: 'Create an API key. The secret is shown once; omitted settings are inherited from the calling key',
    cli: 'key create',
    group: 'Key',
    scope: 'keys',
    routes: [['/keys', 'POST']],
    input: Type.Object({ name: Name, ...Changes }, STRICT),
    answer: Made,
    errors: ['keyRestricted', 'keysTooMany'],
    example: {
      input: { name: 'shop', scopes: ['send'], networks: ['192.0.2.0/24'], restrictions: RESTRICTIONS },
      data: { ...EXAMPLE, ...SECRET },
    },
    act: async ({ name, ...changes }, { core, principal, by, reply }) => {
      const { key, secret } = await core.auth.createKey(
        { accountId: principal.account.id, name, ...changesOf(changes) },
        by,
      )
      reply.header('cache-control', 'no-store')
      return { data: { ...shown(key), api_key: secret } }
    },
  }),
  operation({
    name: 'listKeys',
    summary: 'List the API keys, oldest first, without their secrets',
    cli: 'key list',
    group: 'Key',
    scope: 'keys',
    routes: [
      ['/keys', 'GET'],
      ['/getKeys', 'GET', 'POST'],
    ],
    input: Type.Object({
      after: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description: 'keys with a larger id' })),
      limit: Count('at most 1000; default 100'),
    }),
    answer: Type.Array(Key),
    errors: [],
    example: { input: { after: 0, limit: 100 }, data: [EXAMPLE] },
    act: async ({ after = 0, ...input }, { core, principal: { account } }) => {
      const { limit } = pageOf(input, { byDefault: 100, most: 1000 })
      const keys = await core.auth.listKeys(account.id, { after, limit })
      return { data: keys.map(shown), totalRecords: await core.auth.countKeys(account.id) }
    },
  }),
  operation({
    name: 'updateKey',
    summary: 'Change the name, scopes, networks or restrictions of a key. Takes effect within 5 seconds',
    cli: 'key update',
    group: 'Key',
    scope: 'keys',
    routes: [
      ['/keys/:id', 'PATCH', 'PUT', 'POST'],
      ['/keys/update', 'POST'],
    ],
    input: Type.Object({ id: Id, name: Type.Optional(Name), ...Changes }, STRICT),
    answer: Key,
    errors: ['keyUnknown', 'keyRestricted'],
    example: { input: { id: 12, networks: ['192.0.2.0/24'] }, data: EXAMPLE },
    act: async ({ id, name, ...changes }, { core, ...call }) => ({
      data: shown(await core.auth.updateKey(id, { name, ...changesOf(changes) }, callerOf(call))),
    }),
  }),
  operation({
    name: 'rotateKey',
    creates: true,
    summary: 'Rotate a key: create a successor with the same permissions. The old key stays valid for a grace period',
    cli: 'key rotate',
    group: 'Key',
    scope: 'keys',
    routes: [
      ['/keys/rotate', 'POST'],
      ['/keys/:id/rotate', 'POST'],
    ],
    input: Type.Object({
      id: Id,
      overlap_hours: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 720, description: 'default 24; 0 revokes the old key immediately' }),
      ),
    }),
    answer: Type.Object({ ...Made.properties, replaces: Key }),
    errors: ['keyUnknown', 'keyRestricted', 'keysTooMany'],
    example: {
      input: { id: 12, overlap_hours: 24 },
      data: {
        ...EXAMPLE,
        id: 13,
        prefix: 'pr_9sWc3b',
        api_key: 'pr_9sWc3bUe7NkA4Zx1TqYv6MpLh8RdG2jFsKbV',
        replaces: { ...EXAMPLE, replaced_by: 13 },
      },
    },
    act: async ({ id, overlap_hours: hours }, { core, reply, ...call }) => {
      const { key, secret, replaced } = await core.auth.rotateKey(id, hours, callerOf(call))
      reply.header('cache-control', 'no-store')
      return { data: { ...shown(key), api_key: secret, replaces: shown(replaced) } }
    },
  }),
  operation({
    name: 'revokeKey',
    summary: 'Revoke a key. Takes effect within 5 seconds',
    cli: 'key revoke',
    group: 'Key',
    scope: 'keys',
    routes: [
      ['/keys/:id', 'DELETE'],
      ['/keys/revoke', 'POST'],
    ],
    input: Type.Object({ id: Id }),
    answer: Key,
    errors: ['keyUnknown'],
    example: { input: { id: 12 }, data: { ...EXAMPLE, state: 'revoked', revoked_at: '2026-01-06T08:00:00.000Z' } },
    act: async ({ id }, { core, ...call }) => ({ data: shown(await core.auth.revokeKey(id, callerOf(call))) }),
  }),
]

function callerOf({ principal, by }: Pick<Call, 'principal' | 'by'>) {
  return { accountId: principal.account.id, by }
}

type Given = { [Name in keyof typeof Changes]?: Static<(typeof Changes)[Name]> | undefined }

function changesOf({ scopes, networks, restrictions }: Given) {
  return {
    scopes: scopes === undefined ? undefined : scopesOf(scopes),
    networks: networks === null ? [] : networks === undefined ? undefined : networksOf(networks),
    restrictions: restrictionsOf(restrictions),
  }
}

/** A key without networks is valid from any address, so a list without any valid entry is rejected as a likely mistake. */
function networksOf(networks: string | readonly string[]): string[] {
  const list = commaList('networks', networks)
  const isEmpty = typeof networks === 'string' ? networks === '' : networks.length === 0 && !hadNulls(networks)
  if (list.length === 0 && !isEmpty)
    throw invalidParameter('networks', 'contains no network; send an empty list to allow any address')
  return list
}

/** A key without scopes would permit nothing, so an empty list is rejected as a likely mistake. */
function scopesOf(scopes: string | readonly string[]): string[] {
  const list = commaList('scopes', scopes)
  if (list.length === 0) throw invalidParameter('scopes', 'must have at least one entry')
  return list
}

function shown(key: ApiKey): Static<typeof Key> {
  const { id, name, prefix, scopes, networks, createdAt, lastUsedAt, revokedAt, replacedBy, expired } = key
  return {
    id,
    name,
    prefix,
    scopes: [...scopes],
    networks: [...networks],
    restrictions: shownRestrictions(key),
    state: revokedAt ? 'revoked' : expired ? 'expired' : 'active',
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
    revoked_at: revokedAt?.toISOString() ?? null,
    replaced_by: replacedBy,
  }
}

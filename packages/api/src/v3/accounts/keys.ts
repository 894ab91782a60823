import type { ApiKey, KeyChange, Scope } from '@postrider/core'
import Type from 'typebox'
import { type Call, type Operation, operation } from '../operation.ts'
import { notFound, refuse } from '../refusal.ts'

const OfKey = Type.Object({ api_key_id: Type.String({ pattern: '^[1-9][0-9]{0,9}$' }) })
const name = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' })
const scopes = Type.Array(Type.String({ maxLength: 100 }), { maxItems: 1000 })
const Key = Type.Object({ name, scopes: Type.Optional(scopes) })
const keys = { scope: 'keys', section: '7.1' } as const
const wrong = { name: 'missing required argument' }
const ONE = '/api_keys/:api_key_id'

/** API keys (contract 7.1). An api_key_id is the number of the key. */
export const KEYS: readonly Operation[] = [
  operation({
    name: 'createKey',
    summary: 'Create a key, shown once. If scopes are omitted, it gets those of the calling key',
    cli: 'key create',
    ...keys,
    method: 'POST',
    path: '/api_keys',
    right: 'api_keys.create',
    status: 201,
    body: Key,
    wrong,
    act: async ({ body }, call) => {
      const { core, principal, by } = call
      const granted = body.scopes === undefined ? {} : grantedFor(body.scopes, call)
      const { key, secret } = await core.auth.createKey(
        { accountId: principal.account.id, name: body.name, ...granted },
        by,
      )
      return { api_key: secret, ...shown(key), scopes: rightsOfKey(key, call) }
    },
  }),
  operation({
    name: 'listKeys',
    summary: 'List the valid keys',
    cli: 'key list',
    ...keys,
    method: 'GET',
    path: '/api_keys',
    right: 'api_keys.read',
    status: 200,
    query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1 })) }),
    act: async ({ query: { limit = MAX_KEYS } }, { core, principal }) => {
      const valid = await core.auth.listKeys(principal.account.id, {
        limit: Math.min(limit, MAX_KEYS),
        onlyValid: true,
      })
      return { result: valid.map(shown) }
    },
  }),
  operation({
    name: 'viewKey',
    summary: 'Show a key and its scopes',
    cli: 'key list',
    ...keys,
    method: 'GET',
    path: ONE,
    right: 'api_keys.read',
    status: 200,
    params: OfKey,
    act: async ({ params }, call) => {
      const key = await findKey(Number(params.api_key_id), call)
      return { ...shown(key), scopes: rightsOfKey(key, call) }
    },
  }),
  operation({
    name: 'renameKey',
    summary: 'Rename a key',
    cli: 'key update',
    ...keys,
    method: 'PATCH',
    path: ONE,
    right: 'api_keys.update',
    status: 200,
    params: OfKey,
    body: Type.Object({ name }),
    wrong,
    act: async ({ params, body }, call) => shown(await change(Number(params.api_key_id), { name: body.name }, call)),
  }),
  operation({
    name: 'replaceKey',
    summary: 'Change the name and scopes of a key',
    cli: 'key update',
    ...keys,
    method: 'PUT',
    path: ONE,
    right: 'api_keys.update',
    status: 200,
    params: OfKey,
    body: Key,
    wrong,
    act: async ({ params, body }, call) => {
      const granted = body.scopes === undefined ? {} : grantedFor(body.scopes, call)
      const key = await change(Number(params.api_key_id), { name: body.name, ...granted }, call)
      return { ...shown(key), scopes: rightsOfKey(key, call) }
    },
  }),
  operation({
    name: 'deleteKey',
    summary: 'Revoke a key. Takes effect within 5 seconds',
    cli: 'key revoke',
    ...keys,
    method: 'DELETE',
    path: ONE,
    right: 'api_keys.delete',
    status: 204,
    params: OfKey,
    act: async ({ params }, call) => {
      const { id } = await findKey(Number(params.api_key_id), call)
      await call.core.auth.revokeKey(id, { accountId: call.principal.account.id, by: call.by })
    },
  }),
]

/** Maximum number of keys per account. */
const MAX_KEYS = 1000

function shown({ id, name }: ApiKey) {
  return { api_key_id: String(id), name }
}

function isGood({ revokedAt, expired }: ApiKey): boolean {
  return revokedAt === null && !expired
}

/** Throws V3Refusal 404 for a key that does not exist or is no longer valid. */
async function findKey(id: number, { core, principal }: Call): Promise<ApiKey> {
  const [key] = await core.auth.listKeys(principal.account.id, { after: id - 1, limit: 1 })
  if (key?.id !== id || !isGood(key)) throw notFound()
  return key
}

async function change(id: number, wanted: KeyChange, call: Call): Promise<ApiKey> {
  await findKey(id, call)
  return call.core.auth.updateKey(id, wanted, { accountId: call.principal.account.id, by: call.by })
}

function rightsOfKey({ v3Rights, scopes }: ApiKey, { rightsOf }: Call): readonly string[] {
  return v3Rights ?? rightsOf(scopes)
}

/** Maximum total length of a key's scope names, which are in every list and cache. */
const MAX_SCOPES_LENGTH = 8000

/**
 * Returns the service's scopes for v3's finer permissions. The key stores those permissions as requested: it has no others here,
 * and they are what it returns. Names of unsupported features grant nothing. The service's scopes also apply to the other entry
 * points, which do not know finer permissions. A key therefore gets read access only, a scope with all its permissions, or a
 * scope that sends. Throws V3Refusal.
 */
function grantedFor(requested: readonly string[], { scopeOf, lackingOf, readingOf }: Call) {
  const v3Rights = [...new Set(requested)]
  if (v3Rights.join().length > MAX_SCOPES_LENGTH) {
    throw refuse(400, `scopes must have at most ${MAX_SCOPES_LENGTH} characters in total.`, 'scopes')
  }
  const byScope = Map.groupBy(v3Rights, scopeOf)
  const scopes: Scope[] = []
  for (const [scope, rights] of byScope) {
    if (scope === undefined) continue
    const reads = rights.every((right) => right.endsWith('.read'))
    scopes.push(reads ? readingOf(scope) : scope)
    if (reads || rights.includes('mail.send')) continue
    const lacking = lackingOf(scope, rights)
    if (lacking.length > 0) {
      throw refuse(400, `These scopes can only be granted together; also include ${lacking.join(', ')}.`, 'scopes')
    }
  }
  if (scopes.length === 0) {
    const named = v3Rights.length > 0 && v3Rights.length <= 10 ? ` (got ${v3Rights.join(', ')})` : ''
    throw refuse(
      400,
      `scopes contains no supported scope${named}; omit it to grant those of the calling key. GET /v3/scopes lists them.`,
      'scopes',
    )
  }
  return { scopes, v3Rights }
}

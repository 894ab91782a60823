import type { ApiKey, Scope } from '@postrider/core'
import Type from 'typebox'
import { type Call, type Operation, operation } from './operation.ts'
import { notFound, refuse } from './refusal.ts'

const OfKey = Type.Object({ api_key_id: Type.String({ pattern: '^[1-9][0-9]{0,9}$' }) })
const name = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' })
const scopes = Type.Array(Type.String(), { maxItems: 1000 })
const Key = Type.Object({ name, scopes: Type.Optional(scopes) })
const keys = { scope: 'keys', section: '7.1' } as const
const wrong = { name: 'missing required argument' }
const ONE = '/api_keys/:api_key_id'

/** API keys (contract 7.1). An api_key_id is the number of the key. */
export const KEYS: readonly Operation[] = [
  operation({
    name: 'createKey',
    summary: 'Makes a key, told once; without scopes it has those of the key that asks',
    ...{ ...keys, method: 'POST', path: '/api_keys', right: 'api_keys.create', status: 201, body: Key, wrong },
    act: async ({ body }, call) => {
      const { core, principal, by } = call
      const granted = body.scopes === undefined ? {} : { scopes: scopesOf(body.scopes, call) }
      const { key, secret } = await core.auth.createKey(
        { accountId: principal.account.id, name: body.name, ...granted },
        by,
      )
      return { api_key: secret, ...shown(key), scopes: call.rightsOf(key.scopes) }
    },
  }),
  operation({
    name: 'listKeys',
    summary: 'Lists the keys that are good',
    ...{ ...keys, method: 'GET', path: '/api_keys', right: 'api_keys.read', status: 200 },
    query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1 })) }),
    act: async ({ query: { limit = MOST } }, { core, principal }) => {
      const all = await core.auth.listKeys(principal.account.id)
      return { result: all.filter(isGood).slice(0, limit).map(shown) }
    },
  }),
  operation({
    name: 'viewKey',
    summary: 'One key and what it allows',
    ...{ ...keys, method: 'GET', path: ONE, right: 'api_keys.read', status: 200, params: OfKey },
    act: async ({ params }, call) => {
      const key = await findKey(Number(params.api_key_id), call)
      return { ...shown(key), scopes: call.rightsOf(key.scopes) }
    },
  }),
  operation({
    name: 'renameKey',
    summary: 'Changes the name',
    ...{ ...keys, method: 'PATCH', path: ONE, right: 'api_keys.update', status: 200 },
    ...{ params: OfKey, body: Type.Object({ name }), wrong },
    act: async ({ params, body }, call) => shown(await change(Number(params.api_key_id), { name: body.name }, call)),
  }),
  operation({
    name: 'replaceKey',
    summary: 'Changes name and scopes',
    ...{ ...keys, method: 'PUT', path: ONE, right: 'api_keys.update', status: 200, params: OfKey, body: Key, wrong },
    act: async ({ params, body }, call) => {
      const granted = body.scopes === undefined ? {} : { scopes: scopesOf(body.scopes, call) }
      const key = await change(Number(params.api_key_id), { name: body.name, ...granted }, call)
      return { ...shown(key), scopes: call.rightsOf(key.scopes) }
    },
  }),
  operation({
    name: 'deleteKey',
    summary: 'Revokes a key; every process refuses it 5 s later at most',
    ...{ ...keys, method: 'DELETE', path: ONE, right: 'api_keys.delete', status: 204, params: OfKey },
    act: async ({ params }, call) => {
      const { id } = await findKey(Number(params.api_key_id), call)
      await call.core.auth.revokeKey(id, { accountId: call.principal.account.id, by: call.by })
    },
  }),
]

/** What an account may have. */
const MOST = 1000

function shown({ id, name }: ApiKey) {
  return { api_key_id: String(id), name }
}

function isGood({ revokedAt, expired }: ApiKey): boolean {
  return revokedAt === null && !expired
}

/** Throws V3Refusal 404 for a key that is not there, or no longer good. */
async function findKey(id: number, { core, principal }: Call): Promise<ApiKey> {
  const [key] = await core.auth.listKeys(principal.account.id, { after: id - 1, limit: 1 })
  if (key?.id !== id || !isGood(key)) throw notFound()
  return key
}

async function change(id: number, wanted: { name: string; scopes?: Scope[] }, call: Call): Promise<ApiKey> {
  await findKey(id, call)
  return call.core.auth.updateKey(id, wanted, { accountId: call.principal.account.id, by: call.by })
}

/**
 * Our scopes for v3's finer ones. Names of what there is not here grant nothing; a right to read more of the same comes along, and
 * who may send mail may hold it back too. Throws V3Refusal where anything else of what a scope of ours allows is not asked for: the
 * key could change what it was not meant to.
 */
function scopesOf(rights: readonly string[], { rightsOf, scopeOf }: Call): Scope[] {
  const wanted = new Set(rights)
  const granted = new Set([...wanted].flatMap((right) => scopeOf(right) ?? []))
  for (const scope of granted) {
    if (scope === 'send' && wanted.has('mail.send')) continue
    const lacking = rightsOf([scope]).filter(
      (right) => scopeOf(right) === scope && !wanted.has(right) && !right.endsWith('.read'),
    )
    if (lacking.length > 0) {
      throw refuse(400, `A key that has one of these rights has them all, name also ${lacking.join(', ')}.`, 'scopes')
    }
  }
  if (granted.size === 0) throw refuse(400, 'scopes names no right of this service; leave it out for all.', 'scopes')
  return [...granted]
}

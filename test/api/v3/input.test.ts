import Fastify from 'fastify'
import t from 'tap'
import { Type } from 'typebox'
import { inputOf } from '../../../packages/api/src/v3/input.ts'
import { operation } from '../../../packages/api/src/v3/operation.ts'
import { sendRefusal } from '../../../packages/api/src/v3/refusal.ts'
import { ask, refusedV3 } from './ask.ts'
import { proves } from './conformance/proves.ts'

/** How path, query and body become an operation's input, by an operation of all kinds. */
const told = operation({
  name: 'try',
  cli: { none: 'of a test' },
  summary: '',
  section: '1.8',
  method: 'POST',
  path: '/try/:id',
  scope: null,
  right: null,
  status: 200,
  params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
  query: Type.Object({
    ids: Type.Optional(Type.Array(Type.Integer())),
    names: Type.Optional(Type.Array(Type.String())),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
    all: Type.Optional(Type.Boolean()),
    since: Type.Optional(Type.String()),
  }),
  body: Type.Object({
    name: Type.Optional(Type.String()),
    emails: Type.Optional(Type.Array(Type.String())),
    inner: Type.Optional(Type.Object({ flag: Type.Boolean() })),
    since: Type.Optional(Type.String({ minLength: 1 })),
  }),
  wrong: { since: 'since is a date' },
  act: async (input) => input,
})
const app = Fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false } } })
app.setErrorHandler(sendRefusal)
app.post('/v3/try/:id', async (request) => inputOf(told, request))
const base = await app.listen({ host: '127.0.0.1', port: 0 })
t.teardown(() => app.close())

const given = async (query: string, body: unknown = {}, id = '7') => {
  const { json } = await ask(base, { path: `/try/${id}${query}`, body })
  return json
}

t.test('a list in a query is a repeated key, a key with brackets or a single value', async (t) => {
  proves(t, 'query-lists')
  const lists = async (query: string) => (await given(query))?.query
  for (const query of ['?ids=1&ids=2', '?ids[]=1&ids[]=2', '?ids%5B%5D=1&ids%5B%5D=2', '?ids=1&ids[]=2']) {
    t.strictSame(await lists(query), { ids: [1, 2] }, query)
  }
  t.strictSame(await lists('?ids=5&names=a,b'), { ids: [5], names: ['a,b'] })
  t.strictSame(await lists('?names[]=x'), { names: ['x'] })
})

t.test('text of path and query is read as its type, and unknown parameters are left out', async (t) => {
  const { params, query } = (await given('?limit=20&all=true&since=2026&other=1&limit=30&__proto__=x')) ?? {}
  t.strictSame([params, query], [{ id: 7 }, { limit: 30, all: true, since: '2026' }])
})

t.test('a path that cannot be is 404, a query or body that cannot be is 400 with its field', async (t) => {
  const asked = (path: string, body: unknown = {}) => ask(base, { path, body })
  for (const id of ['x', '0', '1.5', '-1']) refusedV3(t, await asked(`/try/${id}`), [404, 'resource not found'], id)
  const wrong: readonly (readonly [string, unknown, string | RegExp, string | null])[] = [
    ['?limit=0', {}, /^limit must be/, 'limit'],
    ['?limit=many', {}, 'Invalid type. Expected: integer, given: string.', 'limit'],
    ['?ids=1&ids=x', {}, 'Invalid type. Expected: integer, given: string.', 'ids.1'],
    ['', { emails: 'a@harbor.example' }, 'Invalid type. Expected: array, given: string.', 'emails'],
    ['', { emails: ['a', 5] }, 'Invalid type. Expected: string, given: integer.', 'emails.1'],
    ['', { inner: {} }, 'flag is required.', 'inner.flag'],
    ['', { since: '' }, 'since is a date', 'since'],
    ['', [], 'Invalid type. Expected: object, given: array.', null],
  ]
  for (const [query, body, message, field] of wrong) {
    refusedV3(t, await asked(`/try/1${query}`, body), [400, message, field], `${query} ${JSON.stringify(body)}`)
  }
})

t.test('no body is an empty one', async (t) => {
  t.strictSame((await given('', ''))?.body ?? {}, {})
  t.strictSame((await given('', { name: 'x', more: 1 }))?.body, { name: 'x', more: 1 })
})

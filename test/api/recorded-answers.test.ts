import { existsSync, readFileSync } from 'node:fs'
import { OPERATIONS, OPERATOR_OPERATIONS, V3_OPERATIONS } from '@postrider/api'
import t from 'tap'
import { recordAnswers } from './recorded-answers.ts'

/** Differences that are shown of each part. */
const SHOWN = 5

const parts = await recordAnswers(t)
const calls = parts.flatMap(({ calls }) => calls)

for (const { file, text } of parts) {
  const name = file.slice(file.lastIndexOf('/') + 1)
  t.test(`the answers are those recorded in ${name}`, async (t) => {
    const recorded = existsSync(file) ? readFileSync(file, 'utf8').split('\n\n# ') : []
    const answered = text.split('\n\n# ')
    const differing = answered.flatMap((entry, at) => (entry === recorded[at] ? [] : [at]))
    for (const at of differing.slice(0, SHOWN)) t.equal(answered[at], recorded[at])
    t.equal(differing.length, 0, 'if the change is intended, run npm run docs and review the diff')
    t.equal(answered.length, recorded.length)
  })
}

interface Route {
  readonly name: string
  readonly method: string
  readonly path: string
}

/** Sorted so that of two matching paths the one with fewer parameters comes first. */
const ROUTES: readonly Route[] = [
  { name: 'sendEmail', method: 'POST', path: '/v2/sendEmail' },
  ...OPERATIONS.flatMap(({ name, routes }) =>
    routes.flatMap(([path, ...methods]) => methods.map((method) => ({ name, method, path: `/v2${path}` }))),
  ),
  ...V3_OPERATIONS.map(({ name, path, method }) => ({ name: `v3 ${name}`, method, path: `/v3${path}` })),
  ...OPERATOR_OPERATIONS.map(({ name, path, method }) => ({
    name: `operator ${name}`,
    method,
    path: `/operator/v1${path}`,
  })),
].sort((a, b) => a.path.split(':').length - b.path.split(':').length)

function nameOf({ method, path }: { readonly method: string; readonly path: string }): string | undefined {
  const [called = ''] = path.split('?')
  return ROUTES.find(
    (route) => route.method === method && new RegExp(`^${route.path.replace(/:\w+/g, '[^/]+')}$`).test(called),
  )?.name
}

/** Never successful, since their lists are always empty. */
const NEVER = ['v3 deleteBlocksOf', 'v3 deleteInvalidEmailsOf']

t.test('every operation of v2, v3 and the operator is called, and succeeds at least once', async (t) => {
  const called = new Set(calls.map(nameOf))
  const good = new Set(calls.filter(({ status }) => status < 300).map(nameOf))
  const names = new Set(ROUTES.map(({ name }) => name))
  t.ok(names.size > 150)
  const missing = [...names].filter((name) => !(NEVER.includes(name) ? called : good).has(name))
  t.strictSame(missing, [])
})

import { OPERATIONS as V2 } from '../../packages/api/src/v2/operations.ts'
import { OPERATIONS as V3 } from '../../packages/api/src/v3/operations.ts'
import type { Call } from './call.ts'

/** Verbs of operations that read. */
const READS = /^(list|view|show|get|check|count|export|read|search|render|stream|download)/

type Fields = Readonly<Record<string, unknown>>
interface Reader extends Pick<Call, 'api' | 'operation' | 'method'> {
  /** Its paths below the API's, the one that is called first. */
  readonly paths: readonly string[]
  /** Other parameters than those of the path. */
  readonly input: Fields
}

/** Every operation that reads. */
const READERS: readonly Reader[] = [
  ...V2.filter(({ name }) => READS.test(name)).map(({ name, routes, example }): Reader => {
    const method = routes.some(([, ...methods]) => methods.includes('GET')) ? 'GET' : 'POST'
    const called = routes.filter(([, ...methods]) => methods.includes(method))
    return { api: 'v2', operation: name, method, paths: called.map(([path]) => path), input: example.input }
  }),
  ...V3.filter(({ name }) => READS.test(name)).map(
    ({ name, method, path }): Reader => ({ api: 'v3', operation: name, method, paths: [path], input: {} }),
  ),
]

/** What reads and has no call here, nor one that can be derived. */
export function unmeasured(calls: readonly Call[]): string[] {
  const measured = new Set([...calls, ...derivedCalls(calls)].map(nameOf))
  return READERS.map(nameOf).filter((name) => !measured.has(name))
}

/**
 * Returns a call of each operation that reads and has none: with the parameters that the paths of other calls have, and those of its
 * example.
 */
export function derivedCalls(calls: readonly Call[]): Call[] {
  const measured = new Set(calls.map(nameOf))
  return READERS.filter((reader) => !measured.has(nameOf(reader))).flatMap((reader) => {
    const { api, operation, method, paths, input } = reader
    const known = parametersIn(calls.filter((call) => call.api === api))
    const path = paths.map((pattern) => filled(pattern, known)).find((one) => one !== undefined)
    if (path === undefined) return []
    const others = Object.entries(input).filter(([name]) => !paths[0]?.includes(`:${name}`))
    const call = { api, operation, what: '', method }
    if (method !== 'GET') return [{ ...call, path, body: Object.fromEntries(others) }]
    const query = new URLSearchParams(others.map(([name, value]): [string, string] => [name, String(value)])).toString()
    return [{ ...call, path: query === '' ? path : `${path}?${query}` }]
  })
}

function nameOf({ api, operation }: Pick<Call, 'api' | 'operation'>): string {
  return `${api} ${operation}`
}

/** The parameters of these calls' paths: `/templates/:templateId` of `/templates/12` has `/templates/12`. */
function parametersIn(calls: readonly Call[]): ReadonlyMap<string, string> {
  const known = new Map<string, string>()
  for (const { api, operation, path } of calls) {
    const [called = ''] = path.split('?')
    for (const pattern of READERS.find((one) => nameOf(one) === nameOf({ api, operation }))?.paths ?? []) {
      const [names, values] = [pattern.split('/'), called.split('/')]
      if (names.length !== values.length) continue
      for (const [at, name] of names.entries()) if (name.startsWith(':')) known.set(name, values[at] ?? '')
    }
  }
  return known
}

function filled(pattern: string, known: ReadonlyMap<string, string>): string | undefined {
  const parts = pattern.split('/').map((part) => (part.startsWith(':') ? known.get(part) : part))
  return parts.includes(undefined) ? undefined : parts.join('/')
}

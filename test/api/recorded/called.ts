import { OPERATIONS, OPERATOR_OPERATIONS, V3_OPERATIONS } from '@postrider/api'
import type { Recorded } from './recorder.ts'

interface Route {
  /** The operation's, with its API unless that is v2: `v3 createTemplate`. */
  readonly name: string
  readonly method: string
  readonly path: string
}

/** Sorted so that of two matching paths the one with fewer parameters comes first. */
const ROUTES: readonly Route[] = [
  { name: 'sendEmail', method: 'POST', path: '/v2/sendEmail' },
  ...OPERATIONS.flatMap(({ name, routes }) =>
    routes.flatMap(([path, ...methods]) =>
      methods.map((method) => ({ name, method: String(method), path: `/v2${path}` })),
    ),
  ),
  ...V3_OPERATIONS.map(({ name, path, method }) => ({ name: `v3 ${name}`, method, path: `/v3${path}` })),
  ...OPERATOR_OPERATIONS.map(({ name, path, method }) => ({
    name: `operator ${name}`,
    method,
    path: `/operator/v1${path}`,
  })),
].sort((a, b) => a.path.split(':').length - b.path.split(':').length)

/** Every operation of v2, v3 and the operator, as {@link Route} names it. */
export const NAMES: ReadonlySet<string> = new Set(ROUTES.map(({ name }) => name))

/** Returns the operations that were called. */
export function calledBy(calls: readonly Pick<Recorded, 'method' | 'path'>[]): ReadonlySet<string | undefined> {
  return new Set(calls.map(nameOf))
}

function nameOf({ method, path }: Pick<Recorded, 'method' | 'path'>): string | undefined {
  const [called = ''] = path.split('?')
  return ROUTES.find(
    (route) => route.method === method && new RegExp(`^${route.path.replace(/:\w+/g, '[^/]+')}$`).test(called),
  )?.name
}

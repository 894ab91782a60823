import { OPERATIONS as V2 } from '../../packages/api/src/v2/operations.ts'
import { OPERATIONS as V3 } from '../../packages/api/src/v3/operations.ts'
import type { Call } from './call.ts'

/** Verbs of operations that read. */
const READS = /^(list|view|show|get|check|count|export|read|search|render|stream|download)/

/** What reads and has no call here. */
export function unmeasured(calls: readonly Call[]): string[] {
  const measured = new Set(calls.map(({ api, operation }) => `${api} ${operation}`))
  const all = [...V2.map(({ name }) => `v2 ${name}`), ...V3.map(({ name }) => `v3 ${name}`)]
  return all.filter((name) => READS.test(name.slice(3)) && !measured.has(name))
}

/** A call of each v3 operation that reads, has no parameters in its path, and no call yet. */
export function plainCalls(calls: readonly Call[]): Call[] {
  const measured = new Set(calls.map(({ api, operation }) => `${api} ${operation}`))
  return V3.filter(
    ({ name, method, path }) => method === 'GET' && !path.includes(':') && !measured.has(`v3 ${name}`),
  ).map(({ name, path }): Call => ({ api: 'v3', operation: name, what: '', method: 'GET', path }))
}

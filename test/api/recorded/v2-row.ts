import type { OPERATIONS } from '@postrider/api'
import { asForm, type CallAnswer, FORM } from '../call.ts'
import { createCaller } from '../v2/wall/caller.ts'
import { wallEntryOf } from '../v2/wall/index.ts'
import { mistakesIn, mistakesInPath, mistakesInQuery, pathOf } from './mistakes.ts'
import type { Recorder } from './recorder.ts'
import type { Owner, World } from './world.ts'

type Fields = Readonly<Record<string, unknown>>

/** Calls an operation well, with every mistake and as a form; answers `data` of the good call. */
export type Row = (name: string, route: string, input?: Fields, params?: Fields) => Promise<Fields>

export function rowOf(recorder: Recorder, key: string): Row {
  const seen = new Set<string>()
  return async (name, route, input = {}, params = {}) => {
    const [method = '', pattern = ''] = route.split(' ')
    const inQuery = method === 'GET'
    const ask = (title: string, given: Fields, filled: Fields = params) =>
      recorder.ask(`${name} ${title}`.trim(), {
        method,
        path: pathOf(`/v2${pattern}`, filled, inQuery ? given : {}),
        headers: { api_key: key },
        ...(inQuery ? {} : { body: given }),
      })
    // The good call comes first, since a mistake may make the same thing; but last where it deletes what the others name.
    const first = method === 'DELETE' ? undefined : await ask('', input)
    if (!seen.has(route)) {
      seen.add(route)
      const path = pathOf(`/v2${pattern}`, params)
      await recorder.ask(`${name} without a key`, { method, path })
      await recorder.ask(`${name} with another method`, { method: 'PROPFIND', path })
      const withBody = (title: string, body: string, type = {}) =>
        recorder.ask(`${name} ${title}`, { method, path, headers: { api_key: key, ...type }, body })
      if (!inQuery) await withBody('with half an object', '{"a":')
      if (method !== 'GET' && method !== 'DELETE') await withBody('as a form', asForm(input), FORM)
      for (const [title, wrong] of mistakesInPath(params)) await ask(title, input, wrong)
      for (const [title, wrong] of (inQuery ? mistakesInQuery : mistakesIn)(input)) await ask(title, wrong)
    }
    return dataOf(first ?? (await ask('', input)))
  }
}

function dataOf({ json }: CallAnswer): Fields {
  return (json?.data ?? {}) as Fields
}

/** Calls operations with their examples, about what their entry in the wall makes. */
export async function recordExamples(
  recorder: Recorder,
  { base, service }: World,
  owner: Owner,
  operations: typeof OPERATIONS,
): Promise<void> {
  const row = rowOf(recorder, owner.key)
  const { act } = createCaller(base)
  for (const operation of operations) {
    const { name, routes, example } = operation
    const entry = wallEntryOf(operation)
    const made = await entry?.make?.({ service, act }, { ...owner, apiKey: owner.key })
    const input = { ...(example.input as Fields), ...(entry?.kind === 'object' ? (made as Fields) : {}) }
    const [path = '', method] = routes[0] ?? []
    const isInPath = ([parameter]: [string, unknown]) => path.split('/').includes(`:${parameter}`)
    const [params, rest] = [true, false].map((wanted) =>
      Object.fromEntries(Object.entries(input).filter((pair) => isInPath(pair) === wanted)),
    )
    await row(name, `${method} ${path}`, rest, params)
  }
}

import type { V3_OPERATIONS } from '@postrider/api'
import { JSON_TYPE } from '../call.ts'
import { createCaller } from '../v3/wall/caller.ts'
import { sampleInput, wallEntryOf } from '../v3/wall/index.ts'
import { mistakesIn, mistakesInPath, mistakesInQuery, pathOf } from './mistakes.ts'
import type { Recorder } from './recorder.ts'
import type { Owner, World } from './world.ts'

type Fields = Readonly<Record<string, unknown>>
interface Input {
  readonly params?: Fields
  readonly query?: Fields
  readonly body?: Fields
}

/** Calls an operation well and with every mistake; answers the JSON of the good call. */
export type Row = (name: string, route: string, input?: Input) => Promise<Fields>

export function rowOf(recorder: Recorder, bearer: Record<string, string>): Row {
  const seen = new Set<string>()
  const headers = { ...bearer, ...JSON_TYPE }
  return async (name, route, { params = {}, query = {}, body } = {}) => {
    const [method = '', pattern = ''] = route.split(' ')
    const ask = (title: string, given: Fields | string | undefined, inPath = params, asked = query) =>
      recorder.ask(`${name} ${title}`.trim(), {
        method,
        path: pathOf(`/v3${pattern}`, inPath, asked),
        headers,
        ...(given === undefined ? {} : { body: given }),
      })
    // The good call comes first, since a mistake may make the same thing; but last where it deletes what the others name.
    const first = method === 'DELETE' ? undefined : await ask('', body)
    if (!seen.has(route)) {
      const path = pathOf(`/v3${pattern}`, params, query)
      await recorder.ask(`${name} without a key`, { method, path })
      if (!seen.has(pattern)) {
        await recorder.ask(`${name} with another method`, { method: 'PROPFIND', path })
        await recorder.ask(`${name} before a call from a page`, { method: 'OPTIONS', path })
      }
      seen.add(route).add(pattern)
      for (const [title, wrong] of mistakesInPath(params)) await ask(title, body, wrong)
      for (const [title, wrong] of mistakesInQuery(query)) await ask(title, body, params, wrong)
      if (body !== undefined) {
        const text = { ...bearer, 'content-type': 'text/plain' }
        await recorder.ask(`${name} as text`, { method, path, headers: text, body: 'hello' })
        for (const wrong of ['', '{"a":', '[]']) await ask('with another body', wrong)
        for (const [title, wrong] of mistakesIn(body)) await ask(title, wrong)
      }
    }
    const { json } = first ?? (await ask('', body))
    return json ?? {}
  }
}

/** Calls operations with what the documentation shows of them, about what their entry in the wall makes. */
export async function recordSamples(
  row: Row,
  { base, service }: World,
  owner: Owner,
  operations: typeof V3_OPERATIONS,
): Promise<void> {
  const { act } = createCaller(base)
  for (const operation of operations) {
    const { name, method, path } = operation
    const entry = wallEntryOf(operation)
    const made =
      entry && 'make' in entry ? await entry.make?.({ service, act }, { ...owner, apiKey: owner.key }) : undefined
    await row(name, `${method} ${path}`, {
      ...sampleInput(operation),
      ...(entry?.kind === 'object' ? Object(made) : {}),
      ...(entry?.kind === 'own' && 'params' in entry.input ? entry.input : {}),
    })
  }
}

import { OPERATIONS } from '@postrider/api'
import { type CallAnswer, call } from '../../call.ts'
import type { Caller, Input, Setting } from './entry.ts'

/** Calls operations by name, by POST wherever they take it; `act` throws unless the answer is 200. */
export interface NamedCaller {
  ask(caller: Caller, name: string, input: Input, headers?: Readonly<Record<string, string>>): Promise<CallAnswer>
  readonly act: Setting['act']
}

export function createCaller(url: string): NamedCaller {
  const ask: NamedCaller['ask'] = (caller, name, input, headers = {}) => {
    const told = OPERATIONS.find((one) => one.name === name)
    if (!told) throw new Error(`there is no operation ${name}`)
    const route = told.routes.find(([, ...methods]) => methods.includes('POST')) ?? told.routes[0]
    const [path = '', ...methods] = route ?? []
    const method = methods.includes('POST') ? 'POST' : String(methods[0])
    const filled = path.replace(/:(\w+)/g, (_, parameter: string) => encodeURIComponent(String(input[parameter])))
    const key = { api_key: caller.apiKey, ...headers }
    if (typeof input.csv === 'string')
      return call(url, {
        method,
        path: `/v2${filled}`,
        headers: { ...key, 'content-type': 'text/csv' },
        body: input.csv,
      })
    return call(url, { method, path: `/v2${filled}`, headers: key, body: input })
  }
  return {
    ask,
    async act(caller, operation, input) {
      const { status, json, text } = await ask(caller, operation, input)
      if (status !== 200) throw new Error(`${operation}: ${status} ${text}`)
      return json?.data
    },
  }
}

import { V3_OPERATIONS } from '@postrider/api'
import type { CallAnswer } from '../../call.ts'
import { ask } from '../ask.ts'
import type { Caller, Input, Setting } from './entry.ts'

/** Calls operations by name; `act` throws unless they succeed. */
export interface NamedCaller {
  ask(caller: Caller, name: string, input?: Input): Promise<CallAnswer>
  readonly act: Setting['act']
}

export function createCaller(url: string): NamedCaller {
  const call: NamedCaller['ask'] = (caller, name, { params = {}, query = {}, body } = {}) => {
    const told = V3_OPERATIONS.find((one) => one.name === name)
    if (!told) throw new Error(`there is no operation ${name}`)
    const filled = told.path.replace(/:(\w+)/g, (_, parameter: string) => encodeURIComponent(String(params[parameter])))
    const asked = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString()
    const path = asked === '' ? filled : `${filled}?${asked}`
    return ask(url, { method: told.method, path, key: caller.apiKey, body })
  }
  return {
    ask: call,
    async act(caller, operation, input) {
      const { status, json, text } = await call(caller, operation, input)
      if (status >= 300) throw new Error(`${operation}: ${status} ${text}`)
      return json
    },
  }
}

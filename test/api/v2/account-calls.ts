import type { Test } from 'tap'
import { type CallAnswer, call, errorText } from '../call.ts'

export type Data = Record<string, unknown>

/** Calls operations as one account: answers the call, or its `data` when it must succeed. */
export interface AccountCalls {
  ask(
    method: string,
    path: string,
    body?: string | Buffer | Data,
    headers?: Record<string, string>,
  ): Promise<CallAnswer>
  /** Throws unless the answer is 200. */
  data<T = Data>(
    method: string,
    path: string,
    body?: string | Buffer | Data,
    headers?: Record<string, string>,
  ): Promise<T>
}

export function accountCalls(base: string, apiKey: string): AccountCalls {
  const ask: AccountCalls['ask'] = (method, path, body, headers = {}) =>
    call(base, {
      method,
      path: `/v2${path}`,
      headers: { api_key: apiKey, ...headers },
      ...(body === undefined ? {} : { body }),
    })
  return {
    ask,
    async data<T>(...told: Parameters<AccountCalls['ask']>) {
      const answer = await ask(...told)
      if (answer.status !== 200 || answer.json?.message !== 'Success' || answer.json.error_info !== null) {
        throw new Error(`${told[0]} ${told[1]}: ${answer.status} ${answer.text}`)
      }
      return answer.json.data as T
    },
  }
}

/** Holds a refusal against the envelope of the contract's section 2. */
export function refusedIn(
  group: string,
): (t: Test, answer: CallAnswer, expected: readonly [code: number, sentence?: string | RegExp], what?: string) => void {
  return (t, answer, [code, sentence], what = '') => {
    t.strictSame(Object.keys(answer.json ?? {}).sort(), ['error_info', 'message'], `${what}: ${answer.text}`)
    const message = `Error in ${group} api call`
    t.match(answer, { status: code === 121 ? 413 : 400, json: { message, error_info: { error_code: code } } }, what)
    if (sentence) t.match(errorText(answer), sentence, what)
  }
}

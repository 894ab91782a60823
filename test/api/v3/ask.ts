import type { Test } from 'tap'
import { type CallAnswer, type CallOptions, call, JSON_TYPE } from '../call.ts'

export interface AskOptions extends Omit<CallOptions, 'body' | 'path'> {
  /** Below /v3. */
  readonly path: string
  readonly key?: string
  readonly body?: unknown
}

/** Calls v3 as its clients do: a Bearer key, and application/json said of every call, also of those without a body. */
export function ask(base: string, { key, path, body, headers, ...options }: AskOptions): Promise<CallAnswer> {
  const bearer = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const octets = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  return call(base, {
    ...options,
    path: `/v3${path}`,
    headers: { ...JSON_TYPE, ...bearer, ...headers },
    ...(octets === undefined ? {} : { body: octets }),
  })
}

export interface Complaint {
  readonly message: string
  readonly field: string | null
  readonly help: string | null
}

export function complaintsOf({ json }: CallAnswer): readonly Complaint[] {
  return (json?.errors as readonly Complaint[] | undefined) ?? []
}

/** Holds a refusal against the shape of the contract's 1.5: JSON, at least one complaint, three keys each. */
export function refusedV3(
  t: Test,
  answer: CallAnswer,
  [status, message, field = null]: readonly [status: number, message: string | RegExp, field?: string | null],
  what = '',
): void {
  t.equal(answer.status, status, `${what} status: ${answer.text}`)
  t.match(answer.headers['content-type'], /^application\/json/, what)
  t.strictSame(Object.keys(answer.json ?? {}), ['errors'], what)
  const [first, ...others] = complaintsOf(answer)
  t.strictSame(others, [], `${what} one complaint`)
  t.strictSame(Object.keys(first ?? {}).sort(), ['field', 'help', 'message'], what)
  if (typeof message === 'string') t.equal(first?.message, message, what)
  else t.match(first?.message, message, what)
  t.equal(first?.field, field, what)
}

import type { Test } from 'tap'
import { fillQueue } from '../../core/delivery/filled-queue.ts'
import { makeService, type Sender, type TestService } from '../../helpers/service.ts'

export interface OperatorAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: the tests match it against patterns
  readonly body: any
}

export interface OperatorCall {
  readonly method?: string
  readonly body?: unknown
  readonly key?: string | undefined
  readonly headers?: Record<string, string>
}

export interface TestOperator {
  readonly service: TestService
  readonly sender: Sender
  readonly url: string
  readonly keyId: number
  readonly apiKey: string
  /** Calls a path below /operator/v1 with the operator key, or with `key`; a call with a body is a POST. */
  call(path: string, call?: OperatorCall): Promise<OperatorAnswer>
  fill(count: number, columns?: Record<string, string>): Promise<void>
  finish(): Promise<void>
}

/** A service with its API open, one account and an operator key. */
export async function makeOperator(t: Test, settings: Record<string, string> = {}): Promise<TestOperator> {
  const service = await makeService(t, settings)
  const sender = await service.makeSender()
  const url = await service.openApi()
  const { key, secret } = await service.core.auth.createOperatorKey({ name: 'night shift' })
  return {
    service,
    sender,
    url,
    keyId: key.id,
    apiKey: secret,
    call: (path, { key: shown = secret, ...call } = {}) =>
      ask(`${url}/operator/v1${path}`, { ...call, headers: { authorization: `Bearer ${shown}`, ...call.headers } }),
    fill: (count, columns = {}) => fillQueue(service.sql, { accountIds: [sender.accountId], count, columns }),
    async finish() {
      while (await service.core.queue.workSome());
    },
  }
}

export async function ask(url: string, { method, body, headers = {} }: OperatorCall): Promise<OperatorAnswer> {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
}

import { createRequire } from 'node:module'

interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly url: string
  readonly qs?: object
  readonly body?: object
}
interface ClientAnswer {
  readonly statusCode: number
  readonly body: unknown
}
interface Client {
  setApiKey(key: string): void
  setDefaultRequest(name: string, value: string): void
  request(request: object): Promise<[ClientAnswer, unknown]>
}

/** What the client throws. */
interface ClientRefusal {
  readonly code: number
  readonly response: { readonly body: { readonly errors: readonly { message: string; field: string | null }[] } }
}

/** Calls through `@sendgrid/client`, as its package stands; only base URL and key are ours. Answers status and body. */
export function sendgridClient(base: string, key: string): (call: Call) => Promise<[status: number, body: unknown]> {
  const { Client } = createRequire(import.meta.url)('@sendgrid/client') as { Client: new () => Client }
  // It says that the key does not begin like the mirrored service's.
  console.warn = () => {}
  const client = new Client()
  client.setApiKey(key)
  client.setDefaultRequest('baseUrl', base)
  return async (call) => {
    const [{ statusCode, body }] = await client.request(call)
    return [statusCode, body]
  }
}

/** What the client threw. */
export function refusedBy(asked: Promise<unknown>): Promise<ClientRefusal> {
  return asked.then(
    () => Promise.reject(new Error('it was answered')),
    (error) => error,
  )
}

/** Seconds that a request may be old, or early: clocks differ. */
const TOLERANCE = 300

/** A request of a webhook: a Request of fetch, or the headers and the body exactly as it was received. */
export type WebhookRequest =
  | Request
  | {
      readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
      readonly body: string | Uint8Array
    }

/** The request is not one of the service, or it is an old one, repeated. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

/**
 * Returns what a webhook's request says if it was signed with the secret (`whsec_…`), as Standard Webhooks 1.0.0 says. `now` is the time in
 * milliseconds. Throws WebhookError otherwise.
 */
export async function verifyWebhook(request: WebhookRequest, secret: string, now = Date.now()): Promise<unknown> {
  const header = (name: string): string => headerOf(request.headers, name)
  const [id, time, given] = [header('webhook-id'), header('webhook-timestamp'), header('webhook-signature')]
  if (id === '' || given === '' || !/^\d{1,12}$/.test(time)) throw new WebhookError('the request has no signature')
  if (Math.abs(now / 1000 - Number(time)) > TOLERANCE)
    throw new WebhookError('the request is too old, or the clock is wrong')
  const body = await octetsOf(request)
  const key = await crypto.subtle.importKey('raw', secretOf(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ])
  const signed = joined(new TextEncoder().encode(`${id}.${time}.`), body)
  for (const one of given.split(' ').slice(0, 10)) {
    const signature = one.startsWith('v1,') ? fromBase64(one.slice('v1,'.length)) : undefined
    if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed)))
      return JSON.parse(new TextDecoder().decode(body))
  }
  throw new WebhookError('the signature is not that of this secret and body')
}

function headerOf(headers: WebhookRequest['headers'], name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? ''
  const [, value] = Object.entries(headers).find(([one]) => one.toLowerCase() === name) ?? []
  return typeof value === 'string' ? value : (value?.[0] ?? '')
}

async function octetsOf(request: WebhookRequest): Promise<Uint8Array<ArrayBuffer>> {
  if (request instanceof Request) return new Uint8Array(await request.arrayBuffer())
  const { body } = request
  return typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)
}

function secretOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = secret.startsWith('whsec_') ? fromBase64(secret.slice('whsec_'.length)) : undefined
  if (!key || key.length === 0) throw new TypeError('the secret of a webhook begins with whsec_')
  return key
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (one) => one.charCodeAt(0))
  } catch {
    return undefined
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

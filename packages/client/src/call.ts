import { ConnectionError, errorOf } from './errors.ts'
import { pause, timerDelay } from './pause.ts'

export interface PostriderOptions {
  /** The address of the installation: `https://mail.example.com`. */
  readonly baseUrl: string | URL
  readonly apiKey: string
  /** Milliseconds until a try without a response ends; 30,000 by default. A file may take longer once it has begun to arrive. */
  readonly timeout?: number
  /** Further tries after 429, 503 or, where a repetition has no second effect, a lost connection; 2 by default. */
  readonly retries?: number
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch
  /** `render` of @react-email/render, for mail with `react`. It is given, since bundlers and Workers do not load what may be missing. */
  readonly render?: RenderReact
}

// biome-ignore lint/suspicious/noExplicitAny: an element has the type of the React that its program uses
export type RenderReact = (element: any, options?: { plainText: boolean }) => string | Promise<string>

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Milliseconds, instead of the client's. */
  readonly timeout?: number
  /** Mail that is sent with the same one is sent once within 24 hours. Other calls that create something refuse it. */
  readonly idempotencyKey?: string
}

/** A call of an operation: its documented method and path below /v2, in which `:name` is a parameter. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  /** The type of a body that is sent as it is. */
  readonly takes?: string
  /** `stream`: the response is a file. `whole`: there is more than `data` in it. */
  readonly gives?: 'stream' | 'whole'
}

export type Call = (operation: Operation, input: object, options?: CallOptions) => Promise<never>

/** The content of a file. */
export type FileBody = string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>

/** Seconds that a response may ask to wait; a caller with more patience reads `retryAfter`. */
const MAX_WAIT = 60
const REFUSED_UNDONE = new Set([429, 503])
/** Whether the call had an effect is not known. */
const UNKNOWN = new Set([500, 502, 504])

/** Returns the function by which all methods call the service. */
export function createCall(options: PostriderOptions): Call {
  const { apiKey, retries = 2 } = options
  const base = baseOf(options.baseUrl)
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError('apiKey must be the API key, which has neither spaces nor line breaks')
  return async (operation, input, own = {}) => {
    const request = requestOf(base, operation, input)
    const headers = { ...request.headers, api_key: apiKey, ...keyHeader(own.idempotencyKey) }
    const isRepeatable = operation.method === 'GET' || own.idempotencyKey !== undefined
    // A stream is read once.
    const most = request.body instanceof ReadableStream ? 0 : retries
    for (let time = 0; ; time++) {
      const isLast = time >= most
      const sent = await send(options, own, operation, { ...request, headers }).catch((error: unknown) => {
        if (own.signal?.aborted || isLast || !isRepeatable) throw error
        return undefined
      })
      if (sent?.isFine) return contentOf(sent, operation) as never
      const mayRepeat = !sent || REFUSED_UNDONE.has(sent.status) || (isRepeatable && UNKNOWN.has(sent.status))
      const { retryAfter } = sent ?? {}
      if (sent && (isLast || !mayRepeat || (retryAfter ?? 0) > MAX_WAIT))
        throw errorOf(sent.status, sent.content, retryAfter)
      await pause(retryAfter === undefined ? 250 * 2 ** time * (1 + Math.random()) : retryAfter * 1000, own.signal)
      own.signal?.throwIfAborted()
    }
  }
}

interface Prepared {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: FileBody | null
}

function baseOf(baseUrl: string | URL): string {
  const url = URL.canParse(`${baseUrl}`) ? new URL(baseUrl) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new TypeError('baseUrl must begin with https:// or http://')
  const { origin, pathname } = url
  return pathname.endsWith('/') ? `${origin}${pathname.slice(0, -1)}` : `${origin}${pathname}`
}

function requestOf(base: string, { method, path, takes }: Operation, input: object): Prepared {
  const left = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const body = left.get('body') as FileBody
  if (takes) left.delete('body')
  const filled = path.replace(/:(\w+)/g, (_, name: string) => {
    const value = String(left.get(name) ?? '').toWellFormed()
    // Any of these would be another path.
    if (value === '') throw new TypeError(`${name} must not be empty`)
    if (value === '.' || value === '..') throw new TypeError(`${name} must not be ${value}`)
    left.delete(name)
    return encodeURIComponent(value)
  })
  const url = new URL(`${base}/v2${filled}`)
  if (method !== 'GET' && !takes)
    return {
      url,
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(Object.fromEntries(left)),
    }
  for (const [name, value] of left) if (value !== null) url.searchParams.set(name, textOf(value))
  return { url, method, headers: takes ? { 'content-type': takes } : {}, body: takes ? body : null }
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(',')
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const keyHeader = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { 'idempotency-key': key }

interface Answer {
  readonly isFine: boolean
  readonly status: number
  readonly retryAfter: number | undefined
  /** The body: the stream of a file, or the value of its JSON; undefined for another text, such as the page of a proxy. */
  readonly content: unknown
}

async function send(
  { fetch: own = fetch, timeout = 30_000 }: PostriderOptions,
  options: CallOptions,
  { gives }: Operation,
  prepared: Prepared,
): Promise<Answer> {
  const { url, ...request } = prepared
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), timerDelay(options.timeout ?? timeout))
  try {
    const response = await own(url, {
      ...request,
      // The key must not reach another host.
      redirect: 'manual',
      signal: options.signal ? AbortSignal.any([options.signal, late.signal]) : late.signal,
      ...(request.body instanceof ReadableStream ? { duplex: 'half' } : {}),
    } as RequestInit)
    const { ok: isFine, status, headers, body } = response
    const content = isFine && gives === 'stream' ? body : parsed(await response.text())
    return { isFine, status, retryAfter: secondsOf(headers.get('retry-after')), content }
  } catch (cause) {
    options.signal?.throwIfAborted()
    const why = late.signal.aborted ? 'did not respond in time' : 'cannot be reached, or the connection was lost'
    throw new ConnectionError(`${url.origin} ${why}`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

function contentOf({ content, status }: Answer, { gives }: Operation): unknown {
  if (gives === 'stream') return content
  if (typeof content !== 'object' || content === null || !('data' in content)) throw errorOf(status, content, undefined)
  if (gives !== 'whole') return content.data
  const { message: _, error_info: __, ...whole } = content as Record<string, unknown>
  return whole
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined
}

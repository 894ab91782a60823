import { pause, timerDelay } from '@postrider/core'
import { CommandError, UsageError } from '../command.ts'

/** Limits on what the source may cost. It is a third party's server, or one that poses as a Postrider. */
export interface Bounds {
  /** Milliseconds for one response, headers and body together. */
  readonly answerMs: number
  /** Bytes of a response; a version has up to 10 MB each of HTML and plain text, and JSON escapes make them longer. */
  readonly answerOctets: number
  readonly tries: number
  /** Milliseconds before the second try; each further wait is twice as long. */
  readonly pauseMs: number
  /** Milliseconds for one request with all its tries and waits, whatever delay the source requests. */
  readonly patienceMs: number
  /** Maximum number of entries read from one list. */
  readonly entries: number
  /** Entries of a list read by offset before it is read by date range: offsets are limited, and cost more the higher they are. */
  readonly span: number
  readonly templates: number
}

export const BOUNDS: Bounds = {
  answerMs: 60_000,
  answerOctets: 64 * 1024 * 1024,
  tries: 8,
  pauseMs: 500,
  patienceMs: 5 * 60_000,
  entries: 50_000_000,
  span: 20_000,
  templates: 5000,
}

/** The v3 API that is imported from. */
export interface Source {
  readonly base: string
  /** Returns the JSON at the path, unvalidated. Throws {@link SourceError}. */
  get(path: string): Promise<unknown>
}

/** The source cannot be read, or its response is not valid. The message contains neither the key nor text of the source. */
export class SourceError extends CommandError {
  /** HTTP status; 0 if there was no usable response. */
  readonly status: number

  constructor(message: string, status = 0) {
    super(message)
    this.status = status
  }
}

/** The base URL of a v3 API, with or without a final /v3. Throws {@link UsageError}. */
export function baseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageError(`--url must be an http or https URL (got "${text}")`)
  if (url.username || url.password || url.search || url.hash) {
    throw new UsageError('--url must have no user name, password, query or fragment')
  }
  return url.href.replace(/\/+$/, '').replace(/\/v3$/, '')
}

/** The JSON of a 200 response, or the error; `wait`: milliseconds before the next try, undefined if a retry is useless. */
type Result = { readonly json: unknown } | { readonly failure: SourceError; readonly wait: number | undefined }

export function openSource(base: string, key: string, bounds: Bounds = BOUNDS): Source {
  const headers = { authorization: `Bearer ${key}`, accept: 'application/json', 'user-agent': 'Postrider' }

  async function request(path: string): Promise<Result> {
    try {
      // Redirects are not followed: the key must only be sent to the host that the user named.
      const response = await fetch(`${base}${path}`, {
        headers,
        redirect: 'manual',
        signal: AbortSignal.timeout(timerDelay(bounds.answerMs)),
      })
      if (response.status !== 200) {
        await response.body?.cancel()
        return refusal(path, response)
      }
      return { json: parsed(path, await bodyOf(path, response, bounds.answerOctets)) }
    } catch (error) {
      if (error instanceof SourceError) return { failure: error, wait: undefined }
      return { failure: new SourceError(`${base}${plain(path)}: ${problemOf(error, bounds)}`), wait: 0 }
    }
  }

  function refusal(path: string, { status, headers }: Response): Result {
    const failure = new SourceError(`${base}${plain(path)}: ${sentenceOf(status)}`, status)
    if (status !== 429 && status < 500) return { failure, wait: undefined }
    return { failure, wait: retryAfterOf(headers) }
  }

  return {
    base,
    async get(path) {
      const deadline = Date.now() + bounds.patienceMs
      for (let tried = 1; ; tried++) {
        const result = await request(path)
        if ('json' in result) return result.json
        const { failure, wait: retryAfter } = result
        if (retryAfter === undefined || tried >= bounds.tries) throw failure
        const wait = Math.max(retryAfter, bounds.pauseMs * 2 ** (tried - 1))
        if (Date.now() + wait > deadline) {
          const { message, status } = failure
          throw new SourceError(
            `${message}; not retrying: the next try in ${Math.ceil(wait / 1000)} s would exceed the limit of ${bounds.patienceMs / 1000} s`,
            status,
          )
        }
        await pause(wait)
      }
    },
  }
}

/** The path without its query, which adds nothing to an error message. */
function plain(path: string): string {
  return path.replace(/\?.*$/, '')
}

/** Requested delay in milliseconds: Retry-After (RFC 9110 10.2.3), or X-RateLimit-Reset (v3 contract 1.6). */
function retryAfterOf(headers: Headers): number {
  const after = headers.get('retry-after') ?? ''
  if (/^\d{1,9}$/.test(after)) return Number(after) * 1000
  if (!Number.isNaN(Date.parse(after))) return Math.max(0, Date.parse(after) - Date.now())
  const reset = headers.get('x-ratelimit-reset') ?? ''
  // The two clocks may differ by a second.
  return /^\d{1,12}$/.test(reset) ? Math.max(0, Number(reset) * 1000 - Date.now()) + 1000 : 0
}

function sentenceOf(status: number): string {
  if (status === 401) return 'the source rejected the API key (401)'
  if (status === 403) return 'the API key does not have permission to read this (403)'
  if (status === 404) return 'not found (404)'
  if (status === 429) return 'too many requests (429)'
  if (status >= 300 && status < 400) return `unexpected redirect (${status}); not followed, to protect the key`
  return `the source responded with status ${status}`
}

async function bodyOf(path: string, { body }: Response, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > limit) throw new SourceError(`${plain(path)}: response exceeds ${limit} bytes`, 200)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parsed(path: string, body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    throw new SourceError(`${plain(path)}: response is not JSON; check that --url is the base URL of a v3 API`, 200)
  }
}

function problemOf(error: unknown, { answerMs }: Bounds): string {
  const { name, cause } = error as { name?: string; cause?: { code?: unknown } }
  if (name === 'TimeoutError') return `no complete response within ${answerMs / 1000} s`
  const code = String(cause?.code ?? '')
  return `could not connect, or the connection was lost${/^[A-Z_]+$/.test(code) ? ` (${code})` : ''}`
}

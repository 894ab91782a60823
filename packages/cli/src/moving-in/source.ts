import { setTimeout as sleep } from 'node:timers/promises'
import { CommandError, UsageError } from '../command.ts'

/** What the other side may cost us. It is a stranger's server, or one that pretends to be ours. */
export interface Bounds {
  /** Milliseconds for one answer, headers and body together. */
  readonly answerMs: number
  /** Octets of an answer; a version is 10 MB of HTML and of plain text, which JSON makes longer. */
  readonly answerOctets: number
  readonly tries: number
  /** Milliseconds before a second try; each further one waits twice as long. */
  readonly pauseMs: number
  /** Milliseconds for one request with all its tries and waits, whatever the other side asks for. */
  readonly patienceMs: number
  /** Entries read of one list. */
  readonly entries: number
  /** Entries of a list read by offset, before it is read by spans of time: offsets end somewhere, and cost more the higher. */
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

/** The v3 API that is copied from. */
export interface Source {
  readonly base: string
  /** What JSON the path answers, not yet checked. Throws {@link SourceError}. */
  get(path: string): Promise<unknown>
}

/** The source can't be read, or not understood. The message never has the key, nor words of the other side. */
export class SourceError extends CommandError {
  /** Of HTTP; 0 when there was no usable answer. */
  readonly status: number

  constructor(message: string, status = 0) {
    super(message)
    this.status = status
  }
}

/** The base URL of a v3 API, with or without /v3 at its end. Throws {@link UsageError}. */
export function baseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`--url must be an http or https URL, not "${text}"`)
  if (url.username || url.password || url.search || url.hash) {
    throw new UsageError('--url must have no user name, password, query or fragment')
  }
  return url.href.replace(/\/+$/, '').replace(/\/v3$/, '')
}

/** An answer of 200, or why there is none; `wait`: how long to wait before another try, undefined: another is no use. */
type Heard = { readonly json: unknown } | { readonly failure: SourceError; readonly wait: number | undefined }

export function openSource(base: string, key: string, bounds: Bounds = BOUNDS): Source {
  const headers = { authorization: `Bearer ${key}`, accept: 'application/json', 'user-agent': 'Postrider' }

  async function ask(path: string): Promise<Heard> {
    try {
      // A redirect is not followed: the key is for the host that was named, and no other.
      const response = await fetch(`${base}${path}`, {
        ...{ headers, redirect: 'manual', signal: AbortSignal.timeout(bounds.answerMs) },
      })
      if (response.status !== 200) {
        await response.body?.cancel()
        return refusal(path, response)
      }
      return { json: parsed(path, await bodyOf(path, response, bounds.answerOctets)) }
    } catch (error) {
      if (error instanceof SourceError) return { failure: error, wait: undefined }
      return { failure: new SourceError(`${base}${plain(path)}: ${troubleOf(error, bounds)}`), wait: 0 }
    }
  }

  function refusal(path: string, { status, headers: answered }: Response): Heard {
    const failure = new SourceError(`${base}${plain(path)}: ${sentenceOf(status)}`, status)
    if (status !== 429 && status < 500) return { failure, wait: undefined }
    return { failure, wait: waitAsked(answered) }
  }

  return {
    base,
    async get(path) {
      const deadline = Date.now() + bounds.patienceMs
      for (let tried = 1; ; tried++) {
        const heard = await ask(path)
        if ('json' in heard) return heard.json
        const { failure, wait } = heard
        if (wait === undefined || tried >= bounds.tries) throw failure
        const pause = Math.max(wait, bounds.pauseMs * 2 ** (tried - 1))
        if (Date.now() + pause > deadline) {
          const { message, status } = failure
          throw new SourceError(`${message}; another try would be in ${Math.ceil(pause / 1000)} s, too late`, status)
        }
        await sleep(pause)
      }
    },
  }
}

/** The query has nothing to tell that the path hasn't. */
function plain(path: string): string {
  return path.replace(/\?.*$/, '')
}

/** Milliseconds the other side wants us to wait: Retry-After (RFC 9110 10.2.3), or X-RateLimit-Reset (v3 contract 1.6). */
function waitAsked(headers: Headers): number {
  const after = headers.get('retry-after') ?? ''
  if (/^\d{1,9}$/.test(after)) return Number(after) * 1000
  if (!Number.isNaN(Date.parse(after))) return Math.max(0, Date.parse(after) - Date.now())
  const reset = headers.get('x-ratelimit-reset') ?? ''
  // Their clock and ours may differ by a second.
  return /^\d{1,12}$/.test(reset) ? Math.max(0, Number(reset) * 1000 - Date.now()) + 1000 : 0
}

function sentenceOf(status: number): string {
  if (status === 401) return 'the key is not known there (401)'
  if (status === 403) return 'the key may not read this (403)'
  if (status === 404) return 'there is no such thing (404)'
  if (status === 429) return 'too many requests (429)'
  if (status >= 300 && status < 400) return `it leads elsewhere (${status}); the key is not sent there`
  return `the answer is ${status}`
}

async function bodyOf(path: string, { body }: Response, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > most) throw new SourceError(`${plain(path)}: the answer is longer than ${most} octets`, 200)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parsed(path: string, body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    throw new SourceError(`${plain(path)}: the answer is not JSON; is --url the base of a v3 API?`, 200)
  }
}

function troubleOf(error: unknown, { answerMs }: Bounds): string {
  const { name, cause } = error as { name?: string; cause?: { code?: unknown } }
  if (name === 'TimeoutError') return `no whole answer within ${answerMs / 1000} s`
  const code = String(cause?.code ?? '')
  return `no connection, or it broke${/^[A-Z_]+$/.test(code) ? ` (${code})` : ''}`
}

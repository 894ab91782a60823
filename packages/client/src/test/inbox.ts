import { ConnectionError } from '../errors.ts'
import { pause } from '../pause.ts'

/** A message that matches all of these. */
export interface Wanted {
  /** The recipient's address, as a whole. */
  readonly to?: string
  /** Part of the sender's address or name. */
  readonly from?: string
  /** Part of the subject. */
  readonly subject?: string
  /** A search, as on the inbox's page: `has:attachment -subject:receipt`. */
  readonly q?: string
  /**
   * A message (or its id), or a time: only what came later counts, and of several the first. Without it, a message that is there already counts, and of
   * several the newest.
   */
  readonly after?: { readonly id: string } | string | Date
}

export interface WaitOptions extends Wanted {
  /** Milliseconds, rounded up to seconds; 10,000 by default. */
  readonly timeout?: number
  readonly signal?: AbortSignal
}

/** A copy of a message: there is one for each recipient. */
export interface ListedMessage {
  readonly id: string
  /** The recipient of this copy. */
  readonly to: string
  readonly subject: string
  /** The sender as the message names it. */
  readonly sender: string
  /** The return path. */
  readonly from: string
  readonly receivedAt: string
}

export interface Mailbox {
  readonly name: string
  readonly address: string
}

export interface MessageLink {
  readonly url: string
  readonly text: string
  /** Where a tracked link leads; of others, the URL itself. */
  readonly target: string
  readonly isTracked: boolean
  /** The response of the target, if the inbox has checked the links. */
  readonly status?: { readonly code: number; readonly text: string }
}

/** Plain data, which a Cypress task can return. */
export interface ReceivedMessage extends ListedMessage {
  readonly recipients: {
    readonly to: readonly Mailbox[]
    readonly cc: readonly Mailbox[]
    /** Recipients that the message does not name. */
    readonly bcc: readonly Mailbox[]
  }
  /** By name in lower case; a field that is there several times has a line for each. Encoded words are not decoded. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Empty if there is none. */
  readonly text: string
  /** Empty if there is none. */
  readonly html: string
  readonly links: readonly MessageLink[]
  /** One-time codes, the likeliest first. */
  readonly codes: readonly string[]
  readonly attachments: readonly {
    readonly fileName: string | null
    readonly contentType: string
    readonly size: number
  }[]
}

/** No message that matches came in time. Its message names what is in the inbox instead. */
export class NoMessageError extends Error {
  override readonly name = 'NoMessageError'
  /** The newest that came, at most five. */
  readonly newest: readonly ListedMessage[]

  constructor(message: string, newest: readonly ListedMessage[]) {
    super(message)
    this.newest = newest
  }
}

const USUAL_MS = 10_000
/** Seconds of one call: a longer wait takes several. */
const MAX_SECONDS = 60

/** The inbox in which an installation with DELIVERY=sandbox, as on a developer's machine, puts all mail. */
export class Inbox {
  readonly #url: string

  /** `url`: of the inbox, http://127.0.0.1:8025 unless its settings say otherwise. */
  constructor(url: string | URL = 'http://127.0.0.1:8025') {
    if (!URL.canParse(`${url}`)) throw new TypeError('the URL of the inbox must be one such as http://127.0.0.1:8025')
    this.#url = `${url}`.replace(/\/$/, '')
  }

  /** An address that no other test has. Mail to any address arrives in the inbox. */
  address(name = 'test', domain = 'example.com'): string {
    return `${name}.${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}@${domain}`
  }

  /** Returns a message that matches, and waits for it if it is not there yet. Throws {@link NoMessageError} if none comes. */
  async waitFor({ timeout = USUAL_MS, signal, ...wanted }: WaitOptions = {}): Promise<ReceivedMessage> {
    const query = queryOf(wanted)
    const until = performance.now() + timeout
    for (;;) {
      const left = Math.max(0, until - performance.now())
      query.set('timeout', String(Math.min(Math.ceil(left / 1000), MAX_SECONDS)))
      const { status, headers, body } = await this.#ask('GET', `/messages/wait?${query}`, signal)
      if (status === 200) return messageOf(body as Answer)
      const isOver = until - performance.now() <= 0
      if (status === 404 && isOver && isVain(body))
        throw new NoMessageError(vainText(wanted, timeout, body), body.newest)
      if (status === 503 && !isOver) await pause(Number(headers.get('retry-after') ?? 1) * 1000, signal)
      else if (status !== 404 || !isVain(body)) throw refusal(status, body)
      signal?.throwIfAborted()
    }
  }

  /** Every copy, the newest last. */
  async list(): Promise<readonly ListedMessage[]> {
    const { status, body } = await this.#ask('GET', '/messages')
    if (status !== 200) throw refusal(status, body)
    return body as readonly ListedMessage[]
  }

  /** Deletes all messages, those of other tests, too. */
  async clear(): Promise<void> {
    const { status, body } = await this.#ask('DELETE', '/messages')
    if (status !== 200) throw refusal(status, body)
  }

  async #ask(method: string, path: string, signal?: AbortSignal) {
    try {
      const response = await fetch(`${this.#url}${path}`, { method, redirect: 'error', ...(signal ? { signal } : {}) })
      const { status, headers } = response
      return { status, headers, body: (await response.json().catch(() => undefined)) as unknown }
    } catch (cause) {
      signal?.throwIfAborted()
      throw new ConnectionError(
        `the inbox at ${this.#url} cannot be reached: Postrider must run, with DELIVERY=sandbox`,
        { cause },
      )
    }
  }
}

type Answer = Omit<ReceivedMessage, 'headers' | 'text' | 'html'> & {
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  readonly text: string | null
  readonly html: string | null
}

function messageOf({ headers, text, html, ...rest }: Answer): ReceivedMessage {
  const fields = new Map<string, string>()
  for (const { name, value } of headers) {
    const [key, line] = [name.toLowerCase(), value.replace(/\r?\n(?=[ \t])/g, '')]
    const before = fields.get(key)
    fields.set(key, before === undefined ? line : `${before}\n${line}`)
  }
  return { ...rest, headers: Object.fromEntries(fields), text: text ?? '', html: html ?? '' }
}

const KNOWN = new Set(['to', 'from', 'subject', 'q', 'after'])

/** Throws TypeError for options that would match any message: a misspelt name, or the value of a variable that is not set. */
function queryOf(wanted: Wanted): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(wanted)) {
    if (!KNOWN.has(name)) throw new TypeError(`waitFor has no option ${name}`)
    if (value === undefined || value === '')
      throw new TypeError(`${name} of waitFor must not be ${value === '' ? 'empty' : 'undefined'}`)
    query.set(name, textOf(value))
  }
  return query
}

function textOf(value: string | Date | { readonly id: string }): string {
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'string' ? value : value.id
}

interface Vain {
  readonly others: number
  readonly newest: readonly ListedMessage[]
}

function isVain(body: unknown): body is Vain {
  return typeof body === 'object' && body !== null && 'newest' in body && Array.isArray(body.newest)
}

function vainText(wanted: Wanted, timeout: number, { others, newest }: Vain): string {
  const said = Object.entries(wanted).map(([name, value]) => `${name} ${JSON.stringify(textOf(value))}`)
  const what = `no message${said.length > 0 ? ` with ${said.join(', ')}` : ''} came within ${timeout} ms`
  if (others === 0) return `${what}, and none else`
  const lines = newest.map(
    ({ to, subject, receivedAt }) => `  ${receivedAt}  to ${to}: ${JSON.stringify(subject.slice(0, 100))}`,
  )
  const are = others === 1 ? 'one other is there' : `${others} others are there`
  return `${what}; ${are}${others > newest.length ? ', of which the newest are' : ''}:\n${lines.join('\n')}`
}

function refusal(status: number, body: unknown): Error {
  const said = typeof body === 'object' && body !== null && 'error' in body ? String(body.error) : undefined
  return new Error(
    `the inbox refused the call (${status}): ${said ?? 'the response is not one of the inbox; check its URL'}`,
  )
}

import { STATUS_CODES } from 'node:http'
import { OutboundError, type OutboundHttp } from '@postrider/core'
import type { LinkStatus, UnsubscribeField } from '../reading/judged-link.ts'
import type { LinkJudge } from './link-judge.ts'

/** Something that the operator has not allowed, or that the inbox does not do now; the text says what to do. */
export class NotSent extends Error {
  readonly status: 400 | 403 | 502 | 503

  constructor(status: NotSent['status'], message: string) {
    super(message)
    this.status = status
  }
}

export interface RequestSettings {
  /** Whether the operator allowed it. */
  readonly isAllowed: boolean
  readonly publicUrl: string
  readonly http: OutboundHttp
  readonly judge: LinkJudge
}

/** Links of one message that are requested, and how many at a time. */
const MAX_CHECKED = 100
const AT_ONCE = 8
/** Messages whose links are requested at the same time: the inbox is open to all who reach it. */
const MAX_CHECKS = 2
const LINK_MS = 5000
const MAX_REDIRECTS = 5
const ONE_CLICK = 'List-Unsubscribe=One-Click'

/**
 * Requests links of messages when the user of the inbox asks for it. Messages are written by strangers, so that a request goes only to hosts that webhooks may
 * have, and only if the operator allows it; the service's own unsubscribe links excepted.
 */
export class LinkRequests {
  readonly #settings: RequestSettings
  #checks = 0

  constructor(settings: RequestSettings) {
    this.#settings = settings
  }

  get isAllowed(): boolean {
    return this.#settings.isAllowed
  }

  /** The status of each address. Throws {@link NotSent}. */
  async check(urls: readonly string[], follow = false): Promise<ReadonlyMap<string, LinkStatus>> {
    if (!this.#settings.isAllowed)
      throw new NotSent(403, 'the inbox does not request links of messages: set SANDBOX_REQUESTS=allow')
    if (this.#checks >= MAX_CHECKS) throw new NotSent(503, 'links of other messages are being checked; retry soon')
    this.#checks++
    try {
      const waiting = [...new Set(urls.filter((url) => /^https?:/i.test(url)))].slice(0, MAX_CHECKED)
      const found = new Map<string, LinkStatus>()
      const work = async () => {
        for (let url = waiting.shift(); url !== undefined; url = waiting.shift())
          found.set(url, await this.#status(url, follow ? MAX_REDIRECTS : 0))
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
      return found
    } finally {
      this.#checks--
    }
  }

  /** Unsubscribes as a mail program does (RFC 8058 3.2). Throws {@link NotSent}. */
  async unsubscribe({ url, post }: UnsubscribeField): Promise<LinkStatus> {
    const { isAllowed, judge, publicUrl } = this.#settings
    if (url === undefined || post.trim() !== ONE_CLICK)
      throw new NotSent(400, 'the message has no List-Unsubscribe with one click (RFC 8058)')
    const own = judge.unsubscribeToken(url)
    if (own !== undefined) return postHere(`${publicUrl}/u/${encodeURIComponent(own.toWellFormed())}`)
    if (!isAllowed)
      throw new NotSent(403, 'the inbox sends nothing to other hosts than PUBLIC_URL: set SANDBOX_REQUESTS=allow')
    return this.#request(url, 'POST')
  }

  async #status(url: string, redirects: number): Promise<LinkStatus> {
    const head = await this.#request(url, 'HEAD')
    // Servers that know no HEAD answer so, or as if there was nothing.
    const answer = [400, 403, 404, 405, 501].includes(head.code) ? await this.#request(url, 'GET') : head
    const next = answer.location
    if (redirects === 0 || next === undefined || !URL.canParse(next, url))
      return { code: answer.code, text: answer.text }
    return this.#status(new URL(next, url).href, redirects - 1)
  }

  async #request(
    url: string,
    method: 'GET' | 'HEAD' | 'POST',
  ): Promise<LinkStatus & { readonly location?: string | undefined }> {
    const form = method === 'POST' ? { body: ONE_CLICK, headers: FORM } : {}
    try {
      const answer = await this.#settings.http.request({ url, method, timeoutMs: LINK_MS, answerLimit: 1024, ...form })
      return { ...statusOf(answer.status), location: answer.location }
    } catch (error) {
      if (error instanceof OutboundError) return { code: 0, text: error.message }
      throw error
    }
  }
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** At the service itself, whose address is often one of loopback. */
async function postHere(url: string): Promise<LinkStatus> {
  try {
    const signal = AbortSignal.timeout(LINK_MS)
    const { status, body } = await fetch(url, {
      method: 'POST',
      body: ONE_CLICK,
      headers: FORM,
      redirect: 'manual',
      signal,
    })
    await body?.cancel()
    return statusOf(status)
  } catch {
    return { code: 0, text: 'the service did not answer at PUBLIC_URL' }
  }
}

function statusOf(code: number): LinkStatus {
  return { code, text: STATUS_CODES[code] ?? '' }
}

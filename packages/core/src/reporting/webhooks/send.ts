import type { Event } from '../../events/event.ts'
import { OutboundError, type OutboundHttp } from '../../platform/outbound-http.ts'
import { signatureHeaders } from './signature.ts'
import { v2Body } from './v2-shape.ts'
import { v3Body } from './v3-shape.ts'
import type { Answer, WebhookKeys, WebhookSettings } from './webhook.ts'

/** Where and how a request goes. */
export type Target = Pick<WebhookSettings, 'url' | 'format' | 'asText' | 'abuse' | 'eventIds' | 'headers' | 'signed'> &
  WebhookKeys

export interface Told extends Answer {
  /** The beginning of what the receiver said. */
  readonly text: string
}

const SHOWN_TEXT = 500
/** On saving: somebody waits for the answer. */
const PROBE_MS = 5000

export function bodyOf(target: Target, events: readonly Event[]): string {
  return target.format === 'v2' ? v2Body(events, target) : v3Body(events)
}

/** One signed request with a batch. Never throws: that there is no answer is an answer too. Any 2xx is a success. */
export async function post(
  http: OutboundHttp,
  target: Target,
  { id, body, signal, timeoutMs }: { id: string; body: string; signal?: AbortSignal; timeoutMs?: number },
): Promise<Told> {
  const started = performance.now()
  const elapsed = () => Math.round(performance.now() - started)
  const seconds = Math.floor(Date.now() / 1000)
  try {
    const {
      status,
      retryAfter,
      body: said,
    } = await http.request({
      method: 'POST',
      ...{ url: target.url, body, ...(signal ? { signal } : {}), ...(timeoutMs === undefined ? {} : { timeoutMs }) },
      headers: {
        ...target.headers,
        'content-type': 'application/json',
        ...signatureHeaders(target, { ...{ id, seconds, body }, format: target.format, signed: target.signed }),
      },
    })
    const ok = status >= 200 && status < 300
    return {
      ...{ status, milliseconds: elapsed(), retryAfter, text: clean(said) },
      ...(ok ? {} : { problem: problemOf(status) }),
    }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { status: null, milliseconds: elapsed(), problem: error.message, text: '' }
  }
}

/**
 * v2 contract 16.2: HEAD, and if that is not 200 a POST of no events, which must be. Answers what is wrong, or undefined. The v3
 * shape knows no HEAD, and any 2xx will do.
 */
export async function probe(http: OutboundHttp, target: Target, id: string): Promise<string | undefined> {
  if (target.format === 'v2') {
    const head = http.request({ url: target.url, method: 'HEAD', headers: target.headers, timeoutMs: PROBE_MS })
    const status = await head.then(({ status }) => status).catch(onlyOutbound)
    if (status === 200) return undefined
  }
  const { status, problem } = await post(http, target, { id, body: '[]', timeoutMs: PROBE_MS })
  if (status === 200 || (target.format === 'v3' && problem === undefined)) return undefined
  return problem ?? `received status ${status}; expected 200`
}

function onlyOutbound(error: unknown): undefined {
  if (!(error instanceof OutboundError)) throw error
}

function problemOf(status: number): string {
  return `received status ${status}${status >= 300 && status < 400 ? '; redirects are not followed' : ''}`
}

/** Printable, and no more than a line of a table holds. */
function clean(said: Buffer): string {
  const text = said.toString('utf8', 0, 4 * SHOWN_TEXT)
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\s\ufffd]+/gu, ' ').slice(0, SHOWN_TEXT)
}

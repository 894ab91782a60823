import type { Event } from '../../events/event.ts'
import { defined } from '../../platform/defined.ts'
import { OutboundError, type OutboundHttp } from '../../platform/net/outbound-http.ts'
import { v2Body } from '../formats/v2/webhook-body.ts'
import { v3Body } from '../formats/v3/webhook-body.ts'
import { signatureHeaders } from './signature.ts'
import type { Answer, WebhookKeys, WebhookSettings } from './webhook.ts'

/** The destination of a request and how it is formatted and signed. */
export type Target = Pick<WebhookSettings, 'url' | 'format' | 'asText' | 'abuse' | 'eventIds' | 'headers' | 'signed'> &
  WebhookKeys

export interface WebhookResponse extends Answer {
  /** The beginning of the response body. */
  readonly text: string
}

const MAX_TEXT_LENGTH = 500
/** Timeout of a probe in milliseconds. Short, because a client waits for it. */
const PROBE_MS = 5000

/** Returns a batch in the target's format. */
export function writeBody(target: Target, events: readonly Event[]): string {
  return target.format === 'v2' ? v2Body(events, target) : v3Body(events)
}

/** Sends a signed request with a batch. Any 2xx is a success. Never throws for a missing response, which is a result too. */
export async function post(
  http: OutboundHttp,
  target: Target,
  { id, body, signal, timeoutMs }: { id: string; body: string; signal?: AbortSignal; timeoutMs?: number },
): Promise<WebhookResponse> {
  const started = performance.now()
  const elapsed = () => Math.round(performance.now() - started)
  const seconds = Math.floor(Date.now() / 1000)
  try {
    const {
      status,
      retryAfter,
      body: received,
    } = await http.request({
      method: 'POST',
      url: target.url,
      body,
      ...(signal ? { signal } : {}),
      ...defined({ timeoutMs }),
      headers: {
        ...target.headers,
        'content-type': 'application/json',
        ...signatureHeaders(target, { id, seconds, body, format: target.format, signed: target.signed }),
      },
    })
    const ok = status >= 200 && status < 300
    return {
      status,
      milliseconds: elapsed(),
      retryAfter,
      text: clean(received),
      ...(ok ? {} : { problem: problemOf(status) }),
    }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { status: null, milliseconds: elapsed(), problem: error.message, text: '' }
  }
}

/**
 * Probes a URL (v2 contract 16.2): HEAD must return 200 or, failing that, a POST without events must. In the v3 format there is no
 * HEAD and any 2xx is accepted. Returns the problem; undefined if there is none.
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

/** Returns the beginning of a response as one line of printable text. */
function clean(body: Buffer): string {
  const text = body.toString('utf8', 0, 4 * MAX_TEXT_LENGTH)
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\s\ufffd]+/gu, ' ').slice(0, MAX_TEXT_LENGTH)
}

import type { Event } from '../../events/event.ts'
import { defined } from '../../platform/defined.ts'
import { OutboundError, type OutboundHttp } from '../../platform/net/outbound-http.ts'
import { v2Body } from '../formats/v2/webhook-body.ts'
import { v3Body } from '../formats/v3/webhook-body.ts'
import { signatureHeaders } from './signature.ts'
import type { Answer, Exchange, WebhookKeys, WebhookSettings, Written } from './webhook.ts'

/** The destination of a request and how it is formatted and signed. */
export type Target = Pick<WebhookSettings, 'url' | 'format' | 'asText' | 'abuse' | 'eventIds' | 'headers' | 'signed'> &
  WebhookKeys

export interface WebhookResponse extends Answer {
  /** The beginning of the response body. */
  readonly text: string
  /** The parts of both sides that are stored. */
  readonly exchange: Pick<Exchange, 'head' | 'answerHead' | 'answer'>
}

const MAX_TEXT_LENGTH = 500
/** Octets of a response that are stored. */
const MAX_ANSWER = 4096
/** Timeout of a probe in milliseconds. Short, because a client waits for it. */
const PROBE_MS = 5000

/** Returns a batch in a format. */
export function bodyOf(written: Omit<Written, 'names'>, events: readonly Event[]): string {
  return written.format === 'v2' ? v2Body(events, written) : v3Body(events)
}

/** Sends a signed request with a batch. Any 2xx is a success. Never throws for a missing response, which is a result too. */
export async function post(
  http: OutboundHttp,
  target: Target,
  { id, body, signal, timeoutMs }: { id: string; body: string; signal?: AbortSignal; timeoutMs?: number },
): Promise<WebhookResponse> {
  const started = performance.now()
  const elapsed = () => Math.round(performance.now() - started)
  const head = signed(target, id, body)
  try {
    const {
      status,
      retryAfter,
      rawHeaders,
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
        ...head,
      },
    })
    return {
      status,
      milliseconds: elapsed(),
      retryAfter,
      text: clean(received),
      exchange: { head, answerHead: rawHeaders, answer: received.subarray(0, MAX_ANSWER) },
      ...(isSuccess(status) ? {} : { problem: problemOf(status) }),
    }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    const exchange = { head, answerHead: [], answer: Buffer.alloc(0) }
    return { status: null, milliseconds: elapsed(), problem: error.message, text: '', exchange }
  }
}

/**
 * Probes a URL: HEAD must return 2xx or, failing that, a POST without events must (v2 contract 16.2 has 200, which receivers that return nothing else
 * than 204 cannot give). In the v3 format there is no HEAD. Both are signed as requests are. Returns the problem; undefined if there is none.
 */
export async function probe(http: OutboundHttp, target: Target, id: string): Promise<string | undefined> {
  if (target.format === 'v2') {
    const head = http.request({
      url: target.url,
      method: 'HEAD',
      headers: { ...target.headers, ...signed(target, id, '') },
      timeoutMs: PROBE_MS,
    })
    const status = await head.then(({ status }) => status).catch(onlyOutbound)
    if (status !== undefined && isSuccess(status)) return undefined
  }
  const { problem } = await post(http, target, { id, body: '[]', timeoutMs: PROBE_MS })
  return problem
}

/** The header fields by which the receiver verifies a request that is made now. */
function signed(target: Target, id: string, body: string): Record<string, string> {
  const seconds = Math.floor(Date.now() / 1000)
  return signatureHeaders(target, { id, seconds, body, format: target.format, signed: target.signed })
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
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

import { request } from 'node:http'
import type { Test } from 'tap'

export interface CallOptions {
  readonly method?: string
  readonly path?: string
  /** Several values are several lines. */
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** The loopback address to call from. */
  readonly from?: string
  readonly body?: string | Buffer | Record<string, unknown>
}

export interface CallAnswer {
  readonly status: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly text: string
  /** Undefined when the answer isn't JSON. */
  readonly json: Record<string, unknown> | undefined
}

/** Calls the API with any method, headers and octets, which fetch would not let through. POST /v2/sendEmail unless told. */
export function call(
  base: string,
  { method = 'POST', path = '/v2/sendEmail', headers = {}, from, body }: CallOptions,
): Promise<CallAnswer> {
  const octets = typeof body === 'string' || Buffer.isBuffer(body) ? body : body && JSON.stringify(body)
  return new Promise((resolve, reject) => {
    // Said always: Node's client leaves it out for GET, DELETE and HEAD, and the body would be read as the next request.
    const chunked = headers['transfer-encoding'] !== undefined
    const length = octets === undefined || chunked ? {} : { 'content-length': Buffer.byteLength(octets) }
    const call = request(
      `${base}${path}`,
      { method, headers: { ...length, ...headers }, agent: false, ...(from ? { localAddress: from } : {}) },
      async (response) => {
        const chunks: Buffer[] = []
        try {
          for await (const chunk of response) chunks.push(chunk)
        } catch (error) {
          return reject(error)
        }
        const text = Buffer.concat(chunks).toString()
        const json = /^application\/json/.test(response.headers['content-type'] ?? '') && text !== ''
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, text, json: json ? JSON.parse(text) : undefined })
      },
    )
    call.once('error', reject)
    if (octets === undefined) call.end()
    else call.end(octets)
  })
}

/** The sentence of a refusal. */
export function errorText({ json, text }: CallAnswer): string {
  const info = json?.error_info as { error_message?: string } | undefined
  return info?.error_message ?? text
}

/** The id of an accepted message. */
export function messageIdOf({ json, text }: CallAnswer): string {
  const data = json?.data as { message_id?: string } | undefined
  if (!data?.message_id) throw new Error(`not accepted: ${text}`)
  return data.message_id
}

/** Holds a refusal against the envelope of the v2 contract's section 2. */
export function refused(
  t: Test,
  answer: CallAnswer,
  [status, code, sentence]: readonly [status: number, code: number, sentence?: string | RegExp],
  what = '',
): void {
  t.equal(answer.status, status, `${what} status: ${answer.text}`)
  const info = answer.json?.error_info as { error_message?: unknown; error_code?: unknown } | undefined
  t.strictSame(Object.keys(answer.json ?? {}).sort(), ['error_info', 'message'], `${what} no data, nothing else`)
  t.equal(answer.json?.message, 'Error in SendEmail api call', what)
  t.strictSame(Object.keys(info ?? {}).sort(), ['error_code', 'error_message'], what)
  t.equal(info?.error_code, code, `${what} a JSON number`)
  if (typeof sentence === 'string') t.equal(info?.error_message, sentence, what)
  else if (sentence) t.match(info?.error_message, sentence, what)
}

/** The JSON body as form parameters in PHP's brackets: what http_build_query makes of it. */
export function asForm(body: Readonly<Record<string, unknown>>): string {
  const pairs: string[] = []
  const walk = (name: string, value: unknown): void => {
    if (value === null || value === undefined) return
    if (typeof value === 'object') for (const [key, item] of Object.entries(value)) walk(`${name}[${key}]`, item)
    else pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
  }
  for (const [name, value] of Object.entries(body)) walk(name, value)
  return pairs.join('&')
}

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
export const JSON_TYPE = { 'content-type': 'application/json' }

import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { OutboundError, type OutboundHttp } from '../../platform/net/outbound-http.ts'

const MAX_HEADERS = 10
const MAX_NAME_LENGTH = 64
const MAX_VALUE_LENGTH = 1000
/** Header fields of the connection (RFC 9110 7.6.1), and those that describe the body and its sender. */
const RESERVED =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-.*|accept-encoding|user-agent|proxy-.*|webhook-.*|x-twilio-.*)$/i
const SECRET_NAME = /auth|token|secret|key|password|cookie|signature/i
/** Replaces a hidden value. An update that sends it back leaves the value unchanged. */
export const HIDDEN = '***'

export type Headers = Readonly<Record<string, string>>

/** Returns the URL in the form used for requests. Throws webhookUrlInvalid. */
export function cleanUrl(http: Pick<OutboundHttp, 'check'>, url: string): string {
  try {
    return http.check(url).href
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    throw new ServiceError('webhookUrlInvalid', { values: { problem: error.message }, reason: error.kind })
  }
}

/** Returns headers with hidden values restored from `before`. Throws parameterInvalid (headers). */
export function cleanHeaders(given: Headers, before: Headers = {}): Headers {
  const entries = Object.entries(given)
  if (entries.length > MAX_HEADERS) throw invalidParameter('headers', `must have at most ${MAX_HEADERS} entries`)
  const seen = new Set<string>()
  for (const [name, value] of entries) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name) || name.length > MAX_NAME_LENGTH)
      throw invalidParameter('headers', 'header name is too long or contains invalid characters')
    if (RESERVED.test(name)) throw invalidParameter('headers', `header ${name} is reserved`)
    if (!/^[\x20-\x7e]*$/.test(value) || value.length > MAX_VALUE_LENGTH)
      throw invalidParameter(
        'headers',
        `value of header ${name} must have at most ${MAX_VALUE_LENGTH} ASCII characters`,
      )
    if (seen.has(name.toLowerCase())) throw invalidParameter('headers', `header ${name} is duplicated`)
    seen.add(name.toLowerCase())
  }
  return Object.fromEntries(entries.map(([name, value]) => [name, value === HIDDEN ? (before[name] ?? value) : value]))
}

/** Returns headers with values that look like secrets hidden. */
export function shownHeaders(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isSecretName(name) ? HIDDEN : value]))
}

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** Returns a URL for the audit log without its query, which may contain a secret. */
export function notedUrl(url: string): string {
  const { origin, pathname, search } = new URL(url)
  return `${origin}${pathname}${search === '' ? '' : '?…'}`
}

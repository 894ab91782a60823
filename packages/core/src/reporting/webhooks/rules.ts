import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { OutboundError, type OutboundHttp } from '../../platform/outbound-http.ts'

const MOST_HEADERS = 10
const MOST_NAME = 64
const MOST_VALUE = 1000
/** Those of the connection (RFC 9110 7.6.1) and those that say what the body is and who sent it. */
const OURS =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-.*|accept-encoding|user-agent|proxy-.*|webhook-.*|x-twilio-.*)$/i
const TELLS_A_SECRET = /auth|token|secret|key|password|cookie|signature/i
/** Stands for a value that is not shown; a change that gives it back leaves the value as it is. */
const HIDDEN = '***'

export type Headers = Readonly<Record<string, string>>

/** The URL as it will be asked for. Throws webhookUrlInvalid. */
export function cleanUrl(http: Pick<OutboundHttp, 'check'>, url: string): string {
  try {
    return http.check(url).href
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    throw new ServiceError('webhookUrlInvalid', { values: { problem: error.message }, reason: error.kind })
  }
}

/** Throws parameterInvalid (headers). */
export function cleanHeaders(given: Headers, before: Headers = {}): Headers {
  const entries = Object.entries(given)
  if (entries.length > MOST_HEADERS) throw invalidParameter('headers', `must have at most ${MOST_HEADERS} entries`)
  const seen = new Set<string>()
  for (const [name, value] of entries) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name) || name.length > MOST_NAME)
      throw invalidParameter('headers', 'header name is too long or contains invalid characters')
    if (OURS.test(name)) throw invalidParameter('headers', `header ${name} is reserved`)
    if (!/^[\x20-\x7e]*$/.test(value) || value.length > MOST_VALUE)
      throw invalidParameter('headers', `value of header ${name} must have at most ${MOST_VALUE} ASCII characters`)
    if (seen.has(name.toLowerCase())) throw invalidParameter('headers', `header ${name} is duplicated`)
    seen.add(name.toLowerCase())
  }
  return Object.fromEntries(entries.map(([name, value]) => [name, value === HIDDEN ? (before[name] ?? value) : value]))
}

/** The headers with what looks like a secret left out. */
export function shownHeaders(headers: Headers): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, TELLS_A_SECRET.test(name) ? HIDDEN : value]),
  )
}

/** For the audit log: a URL's query may hold a secret. */
export function notedUrl(url: string): string {
  const { origin, pathname, search } = new URL(url)
  return `${origin}${pathname}${search === '' ? '' : '?…'}`
}

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

/** A user name and a password in a URL (RFC 3986 3.2.1). */
const USER = /^(https?:\/\/)([^/?#\\\s\p{Cc}]{1,512})@/iu

/**
 * Returns the URL in the form used for requests, and the headers, which have the name and password of the URL as Basic authorization (RFC 7617): a URL is
 * shown and stored as it is, while headers are encrypted and hidden. Throws webhookUrlInvalid.
 */
export function cleanTarget(
  http: Pick<OutboundHttp, 'check'>,
  { url, headers }: { readonly url: string; readonly headers: Headers },
): { readonly url: string; readonly headers: Headers } {
  const [whole, scheme = '', user = ''] = USER.exec(url) ?? []
  if (whole === undefined) return { url: cleanUrl(http, url), headers }
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization')
  return {
    url: cleanUrl(http, scheme + url.slice(whole.length)),
    headers: { ...Object.fromEntries(others), Authorization: basicOf(user) },
  }
}

/** Throws webhookUrlInvalid. */
function basicOf(user: string): string {
  const end = user.indexOf(':')
  try {
    const name = decodeURIComponent(end === -1 ? user : user.slice(0, end))
    const password = decodeURIComponent(end === -1 ? '' : user.slice(end + 1))
    if (!name.includes(':')) return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
  } catch (error) {
    if (!(error instanceof URIError)) throw error
  }
  const problem = 'its user name or password is not encoded correctly, or the name contains a colon'
  throw new ServiceError('webhookUrlInvalid', { values: { problem } })
}

/** Throws webhookUrlInvalid. */
function cleanUrl(http: Pick<OutboundHttp, 'check'>, url: string): string {
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

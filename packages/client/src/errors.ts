/** A response that refuses a call. Its message says what is wrong, and with which parameter. */
export class PostriderError extends Error {
  override readonly name: string = 'PostriderError'
  /** HTTP status. */
  readonly status: number
  /** The service's error code (docs/errors.md); 0 for a response that is not the service's. */
  readonly code: number
  /** The parameter that is wrong or missing, if the message names one. */
  readonly parameter: string | undefined
  /** Seconds after which the call may succeed. */
  readonly retryAfter: number | undefined

  constructor(status: number, code: number, message: string, retryAfter: number | undefined) {
    super(message)
    this.status = status
    this.code = code
    this.parameter = parameterIn(message)
    this.retryAfter = retryAfter
  }
}

/** Of `Parameter [personalizations[0].recipient] is invalid: …`. */
function parameterIn(message: string): string | undefined {
  if (!message.startsWith('Parameter [')) return undefined
  const end = [message.indexOf('] is invalid'), message.indexOf('] not passed')].find((at) => at !== -1)
  return end === undefined ? undefined : message.slice('Parameter ['.length, end)
}

/** The key is missing, wrong, revoked or expired, or its network may not use it (401). */
export class AuthenticationError extends PostriderError {
  override readonly name = 'AuthenticationError'
}

/** The key lacks a scope, or the account may not do this (403). */
export class PermissionError extends PostriderError {
  override readonly name = 'PermissionError'
}

/** There is no such object in the account (404). */
export class NotFoundError extends PostriderError {
  override readonly name = 'NotFoundError'
}

/** The call contradicts another one, such as one with the same idempotency key and another content (409). */
export class ConflictError extends PostriderError {
  override readonly name = 'ConflictError'
}

/** More calls than the account may make; `retryAfter` says when there are more (429). */
export class RateLimitError extends PostriderError {
  override readonly name = 'RateLimitError'
}

/** The service cannot take the call now (5xx). */
export class ServiceError extends PostriderError {
  override readonly name = 'ServiceError'
}

/** No response came: the service cannot be reached, or it took longer than `timeout`. Whether the call had an effect is not known. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

const BY_STATUS: Readonly<Record<number, typeof PostriderError>> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
}

/** The error of a response with this status and body. */
export function errorOf(status: number, body: unknown, retryAfter: number | undefined): PostriderError {
  const foreign = `The response (status ${status}) is not one of Postrider: check baseUrl, and what is between.`
  const { error_code: code = 0, error_message: message = foreign } = infoOf(body)
  const Kind = BY_STATUS[status] ?? (status >= 500 ? ServiceError : PostriderError)
  return new Kind(status, code, message, retryAfter)
}

function infoOf(body: unknown): { readonly error_code?: number; readonly error_message?: string } {
  const info = typeof body === 'object' && body !== null && 'error_info' in body ? body.error_info : undefined
  return typeof info === 'object' && info !== null ? info : {}
}

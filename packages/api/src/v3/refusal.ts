import { databaseRefusal, ServiceError } from '@postrider/core'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { RefusalForm } from '../http/malformed.ts'

/** One error in v3's format. All three keys must be present, or Node's client prints the word "undefined" (contract 1.5). */
export interface ErrorEntry {
  readonly message: string
  /** A dotted path with indexes: `personalizations.0.to.1.email`. */
  readonly field: string | null
  /** URL of the explanation. */
  readonly help: string | null
}

/** An error that v3 reports in its own words, before or instead of core. Has at least one entry. */
export class V3Refusal extends Error {
  readonly status: number
  readonly errors: readonly ErrorEntry[]

  constructor(status: number, errors: readonly ErrorEntry[]) {
    super(errors[0]?.message ?? 'request rejected')
    this.status = status
    this.errors = errors
  }
}

/** Returns an error with one entry. */
export function refuse(status: number, message: string, field: string | null = null): V3Refusal {
  return new V3Refusal(status, [{ message, field, help: null }])
}

/** Returns what an operation does that is refused to everybody, since there is no such thing here. */
export function refuses(status: number, message: string): () => Promise<never> {
  return async () => {
    throw refuse(status, message)
  }
}

/** Returns the error for an object that does not exist, never existed or belongs to another account. */
export function notFound(): V3Refusal {
  return refuse(404, 'resource not found')
}

/** Contract 1.4: invalid JSON, or a wrong type where v3 does not name the field. */
export function badRequest(): V3Refusal {
  return refuse(400, 'Bad Request')
}

/** Error handler of v3. Errors other than ServiceError and V3Refusal become a generic 500. */
export function sendRefusal(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  reply.send({ errors: beginRefusal(error, request, reply) })
}

/** Logs the error, and sets the status and the header fields of its answer. Returns what the body has to say. */
export function beginRefusal(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): readonly ErrorEntry[] {
  const refusal = asKnownError(error, request)
  if (refusal === undefined) request.log.error({ err: error, route: request.routeOptions.url }, 'internal error')
  else if (refusal instanceof V3Refusal) request.log.info({ refusal: refusal.status }, 'request rejected')
  else if (refusal.cause) request.log.warn({ err: refusal.cause, refusal: refusal.errorName }, 'request rejected')
  else request.log.info({ refusal: refusal.errorName, reason: refusal.reason }, 'request rejected')
  if (refusal instanceof V3Refusal) {
    reply.code(refusal.status)
    return refusal.errors
  }
  const known = refusal ?? new ServiceError('internal')
  const { errorName, row, message, values, retryAfter } = known
  const { v3 } = row
  const status = v3?.status ?? row.status
  const wait = retryAfter ?? (status === 503 ? 1 : undefined)
  if (wait !== undefined) reply.header('retry-after', String(wait))
  if (status === 429) setRateLimitReset(reply, wait ?? 1)
  if (status === 405) reply.header('allow', request.routeOptions.config.allow ?? 'POST')
  const own = (request.routeOptions.config.sends ? v3?.whereSent : undefined) ?? v3?.message
  const field = errorName === 'parameterInvalid' || errorName === 'parameterMissing' ? String(values.parameter) : null
  reply.code(status)
  return [{ message: own === undefined ? message : known.fill(own), field, help: null }]
}

export const V3_FORM: RefusalForm = {
  prefix: '/v3',
  bodyOf: ({ sentence }) => ({ errors: [{ message: sentence, field: null, help: null } satisfies ErrorEntry] }),
}

/** Go's and Java's clients wait until this time (contract 1.6). */
function setRateLimitReset(reply: FastifyReply, seconds: number): void {
  if (reply.hasHeader('x-ratelimit-reset')) return
  reply.header('x-ratelimit-remaining', '0')
  reply.header('x-ratelimit-reset', String(Math.ceil(Date.now() / 1000) + seconds))
}

function asKnownError(error: FastifyError | Error, request: FastifyRequest): ServiceError | V3Refusal | undefined {
  if (error instanceof ServiceError || error instanceof V3Refusal) return error
  const { code, statusCode } = error as FastifyError
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new ServiceError('tooLarge')
  if (statusCode === 415) return refuse(415, 'Content-Type should be application/json.')
  // Any other framework error, such as a malformed length or a part that never ends, means an unreadable body.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new ServiceError('jsonInvalid', { reason: code })
  }
  return databaseRefusal(error, { changes: request.principal !== undefined && request.method !== 'GET' })
}

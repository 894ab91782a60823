import { databaseRefusal, ServiceError } from '@postrider/core'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'

/** An error that has no row in the error table: the object does not exist, or its state does not permit the change. */
export class OperatorRefusal extends Error {
  readonly status: 404 | 409
  readonly code: string

  constructor(status: 404 | 409, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** Maximum size of a body in bytes. */
export const BODY_LIMIT = 64 * 1024

/** Error handler. Errors other than ServiceError and OperatorRefusal become a generic 500. */
export function sendOperatorRefusal(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = asKnownError(error, request)
  if (refusal === undefined) request.log.error({ err: error, route: request.routeOptions.url }, 'internal error')
  else if (refusal instanceof OperatorRefusal) request.log.info({ refusal: refusal.code }, 'request rejected')
  else if (refusal.cause) request.log.warn({ err: refusal.cause, refusal: refusal.errorName }, 'request rejected')
  else request.log.info({ refusal: refusal.errorName, reason: refusal.reason }, 'request rejected')
  if (refusal instanceof OperatorRefusal) {
    reply.code(refusal.status).send({ error: { code: refusal.code, message: refusal.message } })
    return
  }
  const { errorName, row, message, values, retryAfter } = refusal ?? new ServiceError('internal')
  const wait = retryAfter ?? (row.status === 503 ? 1 : undefined)
  if (wait !== undefined) reply.header('retry-after', String(wait))
  if (row.status === 405) reply.header('allow', request.routeOptions.config.allow ?? 'GET')
  if (row.status === 401) reply.header('www-authenticate', 'Bearer')
  const { parameter } = values
  const named = parameter === undefined ? {} : { parameter: String(parameter) }
  reply.code(row.status).send({ error: { code: errorName, message, ...named } })
}

function asKnownError(
  error: FastifyError | Error,
  request: FastifyRequest,
): ServiceError | OperatorRefusal | undefined {
  if (error instanceof ServiceError || error instanceof OperatorRefusal) return error
  const { code, statusCode = 0 } = error as FastifyError
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new ServiceError('tooLarge', { values: { limit: `${BODY_LIMIT / 1024} kB` } })
  }
  if (statusCode >= 400 && statusCode < 500) return unreadable('body cannot be read', code)
  return databaseRefusal(error, { changes: request.operatorKeyId !== undefined && request.method !== 'GET' })
}

/** Returns the error for an unreadable body. `reason` is for the log. */
export function unreadable(problem: string, reason = problem): ServiceError {
  return new ServiceError('jsonInvalid', { values: { problem }, reason })
}

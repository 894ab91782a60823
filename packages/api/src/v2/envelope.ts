import { databaseRefusal, ERRORS, type ErrorRow, ServiceError } from '@postrider/core'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { tooLarge } from '../http/body-budget.ts'
import type { RefusalForm } from '../http/malformed.ts'
import { unreadableFor } from './body/unreadable.ts'
import { schemaRefusal } from './schema-refusal.ts'

/** Response envelope of v2 (contract section 2). */
export interface SuccessEnvelope<T> {
  readonly data: T
  readonly message: 'Success'
  readonly error_info: null
}

export function success<T>(data: T): SuccessEnvelope<T> {
  return { data, message: 'Success', error_info: null }
}

/** Operation groups as named in error messages: "Error in SendEmail api call". */
export type OperationGroup =
  | 'SendEmail'
  | 'Domain'
  | 'Suppression'
  | 'Template'
  | 'Attachment'
  | 'Credit'
  | 'Subaccount'
  | 'Key'
  | 'GDPR'
  | 'Audit'
  | 'Account'
  | 'Events'
  | 'Message'
  | 'Stats'
  | 'Tags'
  | 'Webhook'

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly group?: OperationGroup
  }
}

/** Error handler of v2. Errors other than ServiceError become a generic 500. */
export function sendFailure(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = asKnownError(error, request)
  if (!refusal) request.log.error({ err: error, route: request.routeOptions.url }, 'internal error')
  else if (refusal.cause) request.log.warn({ err: refusal.cause, refusal: refusal.errorName }, 'request rejected')
  else request.log.info({ refusal: refusal.errorName, reason: refusal.reason }, 'request rejected')
  const row: ErrorRow = refusal?.row ?? ERRORS.internal
  const retryAfter = refusal?.retryAfter ?? (row.status === 503 ? 1 : undefined)
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  if (row.status === 405) reply.header('allow', request.routeOptions.config.allow ?? 'POST')
  reply.code(row.status).send(failure(row.v2, refusal?.message ?? row.sentence, request.routeOptions.config.group))
}

/** Returns v2's error envelope. */
export function failure(code: number, sentence: string, group: OperationGroup | undefined) {
  return {
    error_info: { error_message: sentence, error_code: code },
    message: group ? `Error in ${group} api call` : 'Error in api call',
  }
}

export const V2_FORM: RefusalForm = {
  prefix: '/v2',
  bodyOf: ({ v2, sentence }) => failure(v2, sentence, undefined),
}

function asKnownError(error: FastifyError | Error, request: FastifyRequest): ServiceError | undefined {
  if (error instanceof ServiceError) return error
  const { validation, code, statusCode, input = request.body } = error as FastifyError & { readonly input?: unknown }
  if (validation) return schemaRefusal(validation, input, request.routeOptions.config.documentation?.errors ?? [])
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge(request.routeOptions.config.operation?.takesMany)
  // Any other framework error, such as a malformed length or a part that never ends, means an unreadable body.
  return (
    unreadableFor({ code, statusCode }) ??
    databaseRefusal(error, { changes: request.principal !== undefined && request.method !== 'GET' })
  )
}

import { databaseRefusal, ERRORS, type ErrorRow, ServiceError } from '@postrider/core'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { tooLarge } from '../body-budget.ts'

/** v2's answer envelope (contract section 2). */
export interface SuccessEnvelope<T> {
  readonly data: T
  readonly message: 'Success'
  readonly error_info: null
}

export function success<T>(data: T): SuccessEnvelope<T> {
  return { data, message: 'Success', error_info: null }
}

/** The operation groups as error messages name them: "Error in SendEmail api call". */
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
  | 'Stats'
  | 'Tags'
  | 'Webhook'

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly group?: OperationGroup
    readonly allow?: string
  }
}

/** Whatever failed in v2 ends here and leaves in v2's shape; what is not a refusal is our fault and says nothing. */
export function sendFailure(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = asRefusal(error)
  if (!refusal) request.log.error({ err: error, route: request.routeOptions.url }, 'fault')
  else if (refusal.cause) request.log.warn({ err: refusal.cause, refusal: refusal.errorName }, 'refused')
  else request.log.info({ refusal: refusal.errorName, reason: refusal.reason }, 'refused')
  const row: ErrorRow = refusal?.row ?? ERRORS.internal
  const retryAfter = refusal?.retryAfter ?? (row.status === 503 ? 1 : undefined)
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  if (row.status === 405) reply.header('allow', request.routeOptions.config.allow ?? 'POST')
  reply.code(row.status).send(failure(row.v2, refusal?.message ?? row.sentence, request.routeOptions.config.group))
}

/** v2's envelope of a refusal. */
export function failure(code: number, sentence: string, group: OperationGroup | undefined) {
  return {
    error_info: { error_message: sentence, error_code: code },
    message: group ? `Error in ${group} api call` : 'Error in api call',
  }
}

function asRefusal(error: FastifyError | Error): ServiceError | undefined {
  if (error instanceof ServiceError) return error
  const { validation, code, statusCode } = error as FastifyError
  if (validation) return schemaRefusal(validation)
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge()
  // What else the framework refuses (a malformed length, a part that never ends) is a body we could not read.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new ServiceError('jsonInvalid', { reason: code })
  }
  return databaseRefusal(error)
}

/**
 * The shape ring: the complaint of the schema that reaches deepest, with the parameter as the client wrote it. Where a value
 * may be text or a list of texts, that one is about the item that is wrong, and not about the list being no text.
 */
function schemaRefusal(validation: NonNullable<FastifyError['validation']>): ServiceError {
  const depth = ({ instancePath }: { instancePath: string }): number => instancePath.split('/').length
  const [first] = validation
  if (first?.keyword === 'required' && first.instancePath === '') {
    return new ServiceError('parameterMissing', { values: { parameter: String(first.params.missingProperty) } })
  }
  const deepest = validation.reduce((best, complaint) => (depth(complaint) > depth(best) ? complaint : best))
  const parameter = parameterName(stepsOf(deepest.instancePath))
  return new ServiceError('parameterInvalid', {
    values: { parameter: parameter || 'body', problem: `it ${complaintOf(deepest)}` },
  })
}

/** The validator's own words, but where they do not say which values there are. */
function complaintOf({ keyword, params, message }: NonNullable<FastifyError['validation']>[number]): string {
  const { allowedValues } = params
  if (keyword === 'enum' && Array.isArray(allowedValues)) return `must be ${allowedValues.join(' or ')}`
  if (keyword === 'type' && params.type === 'boolean') return 'must be true or false, or 1 or 0'
  return message ?? 'has the wrong type'
}

/** A JSON pointer's steps (RFC 6901 4). */
function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Steps as the client wrote the parameter: `personalizations[0].recipient`. */
export function parameterName(steps: readonly string[]): string {
  return steps.reduce((name, step) => (/^\d+$/.test(step) ? `${name}[${step}]` : name ? `${name}.${step}` : step), '')
}

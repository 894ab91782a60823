import { type ErrorName, ServiceError } from '@postrider/core'
import type { FastifyError } from 'fastify'
import { writtenSteps } from './body/null-elements.ts'

type SchemaError = NonNullable<FastifyError['validation']>[number]

/** Errors with a code of their own for parameters of the wrong type. The first one that the operation can return is used. */
const OWN_CODES: Readonly<Record<string, readonly ErrorName[]>> = {
  'from.fromEmail': ['senderInvalid'],
  templateId: ['templateIdInvalid', 'templateUnknown'],
  template_id: ['templateIdInvalid'],
  templateName: ['templateNameInvalid'],
  version: ['templateVersionUnknown'],
  attachmentId: ['attachmentUnknown'],
  attachmentid: ['attachmentUnknown'],
  'settings.attachmentid': ['attachmentUnknown'],
  domain: ['domainInvalid', 'suppressionDomainInvalid'],
  email: ['suppressionEmailInvalid', 'subaccountEmailInvalid', 'exportEmailInvalid'],
  new_email: ['subaccountEmailInvalid'],
  username: ['usernameInvalid', 'subaccountUnknown'],
  password: ['passwordWeak'],
  new_password: ['passwordWeak'],
  credit_type: ['creditInvalid'],
  amount: ['creditInvalid'],
  recurring_credit: ['creditInvalid'],
  requestId: ['forgetRequestUnknown'],
  id: ['keyUnknown'],
  webhookId: ['webhookUnknown'],
  failureId: ['webhookFailureUnknown'],
  url: ['webhookUrlInvalid'],
  jobId: ['exportUnknown'],
  before: ['exportUnknown'],
  ...Object.fromEntries(
    ['startdate', 'startDate', 'start_date', 'enddate', 'endDate', 'end_date'].map((name) => [
      name,
      ['dateInvalid', 'exportDateInvalid'] as const,
    ]),
  ),
}

/**
 * Converts validation errors to the error for the client, from the most deeply nested one, with the parameter as the client wrote
 * it. If a value may be text or a list of texts, the error then names the invalid list item and not the list.
 *
 * `errors`: those the operation can return.
 */
export function schemaRefusal(
  validation: readonly SchemaError[],
  input: unknown,
  errors: readonly ErrorName[],
): ServiceError {
  const depth = ({ instancePath }: SchemaError): number => instancePath.split('/').length
  const [first] = validation
  if (first?.keyword === 'required' && first.instancePath === '') {
    return new ServiceError('parameterMissing', { values: { parameter: String(first.params.missingProperty) } })
  }
  const { instancePath } = validation.reduce((best, schemaError) =>
    depth(schemaError) > depth(best) ? schemaError : best,
  )
  const schemaErrors = validation.filter((schemaError) => schemaError.instancePath === instancePath)
  const parameter = parameterName(writtenSteps(input, stepsOf(instancePath)))
  const problem = problemOf(schemaErrors)
  const own = schemaErrors[0]?.keyword === 'type' ? ownCode(parameter, errors) : undefined
  if (own) return new ServiceError(own, { values: { problem } })
  return new ServiceError('parameterInvalid', { values: { parameter: parameter || 'body', problem } })
}

/** For an item of a list, the code of the list. */
function ownCode(parameter: string, errors: readonly ErrorName[]): ErrorName | undefined {
  const name = parameter.endsWith(']') ? parameter.slice(0, parameter.lastIndexOf('[')) : parameter
  return Object.hasOwn(OWN_CODES, name) ? OWN_CODES[name]?.find((own) => errors.includes(own)) : undefined
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  object: 'an object',
  array: 'an array',
  boolean: 'true or false',
}

/** Returns the validator's message, or a list if several types or values are allowed. */
function problemOf(schemaErrors: readonly SchemaError[]): string {
  const [first] = schemaErrors
  const values = schemaErrors.find(({ params }) => Array.isArray(params.allowedValues))?.params.allowedValues
  const types = schemaErrors.flatMap(({ keyword, params }) => (keyword === 'type' ? [String(params.type)] : []))
  // A flag; if numbers are allowed too, it is not one.
  if (types.includes('boolean') && !types.includes('number')) return 'must be true or false, or 1 or 0'
  if (Array.isArray(values)) return `must be ${values.filter((value) => value !== '').join(' or ')}`
  const named = types.flatMap((type) => TYPES[type] ?? [])
  if (first?.keyword === 'type' && named.length > 0)
    return `must be ${named.length > 2 ? `${named.slice(0, -1).join(', ')}, or ${named.at(-1)}` : named.join(' or ')}`
  return first?.message ?? 'has the wrong type'
}

/** Splits a JSON pointer (RFC 6901 4). */
function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Returns the parameter as the client wrote it: `personalizations[0].recipient`. */
export function parameterName(steps: readonly string[]): string {
  return steps.reduce((name, step) => (/^\d+$/.test(step) ? `${name}[${step}]` : name ? `${name}.${step}` : step), '')
}

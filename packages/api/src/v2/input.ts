import { invalidParameter, ServiceError } from '@postrider/core'
import type { FastifyRequest } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import { NO_NUL, placeOfNul } from '../http/nul.ts'
import { countValues, JsonError, newCount, parseStrictJson, type ValueCount } from '../http/strict-json.ts'
import { skipNullElements, writtenSteps } from './body/null-elements.ts'
import { kindsOf, readFlags, typesOf } from './json-flags.ts'
import type { Operation } from './operation.ts'
import { parameterName } from './schema-refusal.ts'

/**
 * Merges path, query and body into one object. Text is converted to the type of the schema; of JSON values only flags are. Throws
 * bodyBlank if the input is empty and something is required, parameterInvalid for NUL, tooLarge.
 */
export function inputOf({ input, takes, takesMany }: Operation, request: FastifyRequest): Record<string, unknown> {
  const body = (takes ? {} : (request.body ?? {})) as Record<string, unknown>
  const query = request.query as Record<string, unknown>
  const params = request.params as Record<string, unknown>
  const count = request.formValues ?? newCount(false)
  const given = {
    ...(request.formValues ? fromText(input, body, count) : (readFlags(input, body) as Record<string, unknown>)),
    ...fromText(input, query, count),
    ...fromText(input, params, count),
  }
  // One of many messages does not fail the others.
  if (!takesMany) skipNullElements(given)
  const nul = takesMany ? undefined : placeOfNul(given)
  if (nul) throw invalidParameter(parameterName(writtenSteps(given, nul)) || 'body', NO_NUL)
  if (Object.keys(given).length === 0 && requiresInput(request)) throw new ServiceError('bodyBlank')
  return given
}

/** Contract section 3: error 110 is for calls with a payload; a list requested by POST needs none. */
function requiresInput({ routeOptions, method }: FastifyRequest): boolean {
  return method !== 'GET' && (routeOptions.config.operation?.input.required ?? []).length > 0
}

function fromText(
  schema: TObject,
  values: Readonly<Record<string, unknown>>,
  count: ValueCount,
): Record<string, unknown> {
  const read = ([name, value]: [string, unknown]): [string, unknown] => {
    const wanted = schema.properties[name]
    return [name, wanted ? readAs(wanted, value, count) : value]
  }
  return Object.fromEntries(Object.entries(values).map(read))
}

/** Text inside a value built from form brackets is converted too. */
function readAs(schema: TSchema, value: unknown, count: ValueCount): unknown {
  const kinds = kindsOf(schema)
  if (typeof value === 'string') {
    const read = asType(schema, value, count)
    return Array.isArray(read) ? readAs(schema, read, count) : read
  }
  if (Array.isArray(value)) {
    const items = kinds.flatMap(({ items }) => items ?? [])[0]
    return items ? value.map((item) => readAs(items, item, count)) : value
  }
  const object = kinds.find(({ type }) => type === 'object')
  if (!object?.properties || typeof value !== 'object' || value === null) return value
  return fromText(object as unknown as TObject, value as Record<string, unknown>, count)
}

/** Converts text to the type of the schema. If that fails, it returns the text, which the schema then rejects. */
function asType(schema: TSchema, text: string, count: ValueCount): unknown {
  const types = typesOf(schema)
  if (types.has('string')) return text
  if (types.has('integer') && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (types.has('number') && /^-?\d{1,15}(\.\d{1,9})?$/.test(text)) return Number(text)
  if (types.has('boolean') && /^(true|false|0|1)$/.test(text)) return text === 'true' || text === '1'
  if (types.has('object') && text.startsWith('{')) return jsonOr(text, count)
  if (types.has('array') && text.startsWith('[')) return jsonOr(text, count)
  if (types.has('array')) return itemsOf(text, count)
  return text
}

function jsonOr(text: string, count: ValueCount): unknown {
  try {
    return parseStrictJson(Buffer.from(text), count)
  } catch (error) {
    if (error instanceof JsonError) return text
    throw error
  }
}

/** Counted before the strings are created. */
function itemsOf(text: string, count: ValueCount): string[] {
  for (let comma = text.indexOf(','); comma !== -1; comma = text.indexOf(',', comma + 1)) countValues(count, 1)
  return text.split(',').map((item) => item.trim())
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the body was an HTML form, whose values are all text: the count of its values, which conversion increases. */
    formValues: ValueCount | undefined
  }
  interface FastifyContextConfig {
    readonly operation?: Operation
  }
}

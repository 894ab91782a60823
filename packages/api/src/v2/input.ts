import { ServiceError } from '@postrider/core'
import type { FastifyRequest } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import type { Operation } from './operation.ts'

/**
 * One object out of path, query and body. What came as text is read as the type the schema names; JSON must mean what it says.
 * Throws bodyBlank where nothing came and something is required.
 */
export function inputOf({ input }: Operation, request: FastifyRequest): Record<string, unknown> {
  const body = (request.body ?? {}) as Record<string, unknown>
  const query = request.query as Record<string, unknown>
  const params = request.params as Record<string, unknown>
  const given = {
    ...(request.formBody ? fromText(input, body) : body),
    ...fromText(input, query),
    ...fromText(input, params),
  }
  if (Object.keys(given).length === 0 && wantsSomething(request)) throw new ServiceError('bodyBlank')
  return given
}

/** Contract section 3: 110 is for calls that carry a payload; a list asked for by POST needs none. */
function wantsSomething({ routeOptions, method }: FastifyRequest): boolean {
  return method !== 'GET' && (routeOptions.config.operation?.input.required ?? []).length > 0
}

function fromText(schema: TObject, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const read = ([name, value]: [string, unknown]): [string, unknown] => {
    const wanted = schema.properties[name]
    return [name, wanted && typeof value === 'string' ? asType(wanted, value) : value]
  }
  return Object.fromEntries(Object.entries(values).map(read))
}

/** The value the text stands for, or the text itself, about which the schema will complain. */
function asType(schema: TSchema, text: string): unknown {
  const types = typesOf(schema)
  if (types.has('string')) return text
  if (types.has('integer') && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (types.has('number') && /^-?\d{1,15}(\.\d{1,9})?$/.test(text)) return Number(text)
  if (types.has('boolean') && /^(true|false|0|1)$/.test(text)) return text === 'true' || text === '1'
  if (types.has('object') && text.startsWith('{')) return jsonOr(text)
  if (types.has('array') && text.startsWith('[')) return jsonOr(text)
  if (types.has('array')) return text.split(',').map((item) => item.trim())
  return text
}

function typesOf(schema: TSchema): Set<string> {
  const { type, anyOf } = schema as { type?: string; anyOf?: readonly TSchema[] }
  return new Set(anyOf ? anyOf.flatMap((one) => [...typesOf(one)]) : [type ?? ''])
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The body was an HTML form, whose values are all text. */
    formBody: boolean
  }
  interface FastifyContextConfig {
    readonly operation?: Operation
  }
}

import type { FastifyRequest } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import { placeOfNul } from '../http/nul.ts'
import type { Operation } from './operation.ts'
import { notFound, refuse } from './refusal.ts'

type Values = Record<string, unknown>
interface Kind {
  readonly type?: string
  readonly items?: TSchema
}
type Wrong = NonNullable<ReturnType<typeof wrongIn>>

/**
 * Returns path parameters, query and body, validated against the operation's schemas. Throws V3Refusal: 404 for the path, 400 for
 * the rest.
 */
export function inputOf(
  operation: Operation,
  request: FastifyRequest,
): { params: Values; query: Values; body: unknown } {
  const params = fromText(operation.params, request.params as Values)
  if (operation.params && (wrongIn(request, operation.params, params) || placeOfNul(params))) throw notFound()
  const query = fromText(operation.query, withoutBrackets(request.query as Values))
  const body = operation.anyBody ? request.body : operation.body ? (request.body ?? {}) : undefined
  for (const [schema, value] of [
    [operation.query, query],
    [operation.body, body],
  ] as const) {
    const wrong = schema && wrongIn(request, schema, value)
    if (wrong) throw complaint(operation, wrong, value)
    const nul = schema && placeOfNul(value)
    if (nul) throw refuse(400, `${nul.at(-1) ?? 'The body'} must not contain NUL.`, nul.join('.') || null)
  }
  return { params, query, body }
}

/** Returns the first validation error of the value. */
function wrongIn(request: FastifyRequest, schema: TSchema, value: unknown) {
  const validate = request.getValidationFunction(schema) ?? request.compileValidationSchema(schema)
  return validate(value) ? undefined : (validate.errors?.[0] ?? undefined)
}

function complaint(operation: Operation, { instancePath, keyword, params, message }: Wrong, value: unknown): Error {
  const path = instancePath.split('/').slice(1).map(unescaped)
  const at = keyword === 'required' ? [...path, String(params.missingProperty)] : path
  const field = at.join('.')
  const own = operation.wrong?.[field]
  if (own !== undefined) return refuse(400, own, field)
  if (keyword === 'required') return refuse(400, `${at.at(-1)} is required.`, field)
  const found = path.reduce<unknown>((inside, step) => (inside as Values | undefined)?.[step], value)
  if (keyword === 'type') {
    return refuse(400, `Invalid type. Expected: ${params.type}, given: ${jsonKind(found)}.`, field || null)
  }
  return refuse(400, `${at.at(-1) ?? 'The body'} ${message}.`, field || null)
}

/** Decodes one step of a JSON pointer (RFC 6901 4). */
function unescaped(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Returns v3's name of the type of a JSON value. */
export function jsonKind(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

/** Axios writes a list as `a[]=1&a[]=2` (contract 1.8). */
function withoutBrackets(query: Values): Values {
  const merged = new Map<string, unknown>()
  for (const [key, value] of Object.entries(query)) {
    const name = key.endsWith('[]') ? key.slice(0, -2) : key
    merged.set(name, merged.has(name) ? [merged.get(name), value].flat() : key === name ? value : [value].flat())
  }
  return Object.fromEntries(merged)
}

function fromText(schema: TObject | undefined, given: Values): Values {
  const properties: Readonly<Record<string, TSchema>> = schema?.properties ?? {}
  const known = Object.entries(given).filter(([name]) => Object.hasOwn(properties, name))
  return Object.fromEntries(known.map(([name, value]) => [name, readAs(properties[name] as Kind, value)]))
}

/** Converts text to the type of the schema. If that fails, it returns the text, which the schema then rejects. */
function readAs({ type, items }: Kind, value: unknown): unknown {
  if (type === 'array') return [value].flat().map((one) => readAs((items ?? {}) as Kind, one))
  // If a parameter is repeated, the last value wins.
  const text = Array.isArray(value) ? value.at(-1) : value
  if (typeof text !== 'string') return text
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  return text
}

import { invalidParameter, ServiceError } from '@postrider/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import { collectBody } from '../http/collect-body.ts'
import { NO_NUL, placeOfNul } from '../http/nul.ts'
import { JsonError, parseStrictJson } from '../http/strict-json.ts'
import { hasNoBody } from '../http/zipped.ts'
import type { Operation } from './operation.ts'
import { BODY_LIMIT, unreadable } from './refusal.ts'

type Values = Readonly<Record<string, unknown>>

/** Parses JSON bodies; an empty body is an object without members. */
export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    '*',
    collectBody(BODY_LIMIT, (_request, body, done) => {
      try {
        done(null, body.length === 0 ? {} : parseStrictJson(body))
      } catch (error) {
        done(error instanceof JsonError ? unreadable(error.message, error.reason) : (error as Error))
      }
    }),
  )
}

/** Throws jsonInvalid for a body that is not JSON, before it is read. */
export function requireJson(request: FastifyRequest): void {
  if (hasNoBody(request)) return
  const { headers } = request
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    throw unreadable('Content-Type must be application/json')
  }
  if (!/^identity$/i.test(headers['content-encoding'] ?? 'identity')) throw unreadable('body must not be compressed')
}

/** Returns the parameters of the path, and of the query or body. Throws parameterMissing, parameterInvalid and jsonInvalid. */
export function inputOf({ method, params, input }: Operation, request: FastifyRequest): Record<string, unknown> {
  const query = request.query as Values
  const ofPath = checked(request, params, fromText(params, request.params as Values))
  if (method === 'GET') return { ...checked(request, input, fromText(input, query)), ...ofPath }
  const [stray] = Object.keys(query)
  if (stray !== undefined) throw invalidParameter(stray, 'must be in the body')
  const body = request.body ?? {}
  if (typeof body !== 'object' || Array.isArray(body)) throw unreadable('body must be an object')
  return { ...checked(request, input, body as Values), ...ofPath }
}

function checked(request: FastifyRequest, schema: TObject, values: Values): Values {
  const stray = Object.keys(values).find((name) => !Object.hasOwn(schema.properties, name))
  if (stray !== undefined) throw invalidParameter(shown(stray), 'is unknown')
  const validate = request.getValidationFunction(schema) ?? request.compileValidationSchema(schema)
  const error = validate(values) ? undefined : validate.errors?.[0]
  if (error) {
    const { instancePath, keyword, params, message = 'is invalid' } = error
    if (keyword === 'required') {
      throw new ServiceError('parameterMissing', { values: { parameter: String(params.missingProperty) } })
    }
    throw invalidParameter(instancePath.split('/')[1] ?? 'body', problemOf(keyword, params, message))
  }
  const nul = placeOfNul(values)
  if (nul) throw invalidParameter(nul[0] ?? 'body', NO_NUL)
  return values
}

const MAX_SHOWN_LENGTH = 60

/** A name that the caller made up. */
function shown(name: string): string {
  return name.replace(/\P{ASCII}|[\x00-\x1f]/gu, '?').slice(0, MAX_SHOWN_LENGTH)
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'must be a string',
  integer: 'must be an integer',
  boolean: 'must be true or false',
}

function problemOf(keyword: string, { type, limit, allowedValues }: Values, message: string): string {
  switch (keyword) {
    case 'enum':
      return `must be one of ${(allowedValues as readonly unknown[]).join(', ')}`
    case 'type':
      return TYPES[String(type)] ?? message
    case 'minimum':
      return `must be at least ${limit}`
    case 'maximum':
      return `must be at most ${limit}`
    case 'maxLength':
      return `must have at most ${limit} characters`
    default:
      return message
  }
}

/** Converts text to the types of the schema. If that fails, it returns the text, which the schema then rejects. */
function fromText(schema: TObject, values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (Array.isArray(value)) throw invalidParameter(shown(name), 'must be given only once')
      return [name, readAs(schema.properties[name], String(value))]
    }),
  )
}

function readAs(schema: TSchema | undefined, text: string): unknown {
  const { type } = (schema ?? {}) as { readonly type?: string }
  return type === 'integer' && /^-?\d{1,15}$/.test(text) ? Number(text) : text
}

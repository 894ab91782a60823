import swagger from '@fastify/swagger'
import { type Config, ERRORS, type ErrorName } from '@postrider/core'
import type { FastifyInstance, FastifySchema } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import { failure, type OperationGroup, success } from './v2/envelope.ts'
import type { Envelope, Spelling } from './v2/operation.ts'

/** Documentation of a route in the OpenAPI document; an Operation carries its own. */
export interface Documentation {
  readonly name: string
  readonly summary: string
  readonly group: OperationGroup
  readonly input: TObject
  /** Schema of `data`. */
  readonly answer: TSchema
  readonly envelope?: Envelope
  readonly errors: readonly ErrorName[]
  readonly example: { readonly input: unknown; readonly data: unknown }
  readonly takes?: string
  readonly gives?: readonly string[]
  /** The paths to document; the others are aliases. The first one gives the operation its name. */
  readonly shown: readonly Spelling[]
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly documentation?: Documentation
  }
}

/** Errors that any call can return. */
export const EVERYWHERE: readonly ErrorName[] = [
  'keyMissing',
  'keyInvalid',
  'addressNotAllowed',
  'scopeMissing',
  'subaccountUnknown',
  'bodyBlank',
  'rateLimited',
  'wrongKeysTooMany',
  'jsonInvalid',
  'parameterMissing',
  'parameterInvalid',
  'tooLarge',
  'overloaded',
  'notReady',
  'internal',
]

/**
 * Generates the OpenAPI document from the validation schemas: /openapi.json. Must be registered before the routes it documents.
 */
export async function openapi(
  app: FastifyInstance,
  { publicUrl, publicPath }: Pick<Config, 'publicUrl' | 'publicPath'>,
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Postrider', version: '2', description: 'The v2 Web API. Bodies may be JSON or HTML forms.' },
      components: { securitySchemes: { api_key: { type: 'apiKey', in: 'header', name: 'api_key' } } },
      security: [{ api_key: [] }],
      // Without it, paths are those of the host that has the document.
      ...(publicPath === '' ? {} : { servers: [{ url: publicUrl }] }),
    },
    transform: ({ schema, url, route }) => {
      const documentation = route.config?.documentation
      const at =
        documentation?.shown.findIndex(([path, method]) => url === `/v2${path}` && route.method === method) ?? -1
      return { schema: documentation && at !== -1 ? described(documentation, at) : { ...schema, hide: true }, url }
    },
  })
  await app.register(documents)
}

const JSON_TYPE = 'application/json; charset=utf-8'
/** Paths of the document, and the type of each. JSON is YAML 1.2 (section 1.2.2). */
const DOCUMENTS: Readonly<Record<string, string>> = {
  '/openapi.json': JSON_TYPE,
  '/docs/json': JSON_TYPE,
  '/docs/yaml': 'application/yaml',
}

/**
 * The document is written out once. Each time took 8 ms: twenty calls that came together kept everybody waiting for 200 ms. As YAML it
 * took 120 ms.
 */
async function documents(app: FastifyInstance): Promise<void> {
  let text: Buffer | undefined
  for (const [path, type] of Object.entries(DOCUMENTS)) {
    app.get(path, { schema: { hide: true } }, async (_request, reply) =>
      reply.type(type).send((text ??= Buffer.from(JSON.stringify(app.swagger())))),
    )
  }
}

/** Documents an operation at one of its paths. Paths after the first take POST (specification part 4, rule 1). */
function described(documentation: Documentation, at: number) {
  const { name, summary, group, input, answer, envelope, errors, example, shown, takes, gives } = documentation
  const [path, method] = shown[at] as Spelling
  const inPath = new Set([...path.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter as string))
  const parameters = Object.entries(input.properties)
  const params = parameters.filter(([parameter]) => inPath.has(parameter))
  const others = parameters.filter(([parameter]) => !inPath.has(parameter))
  const place = method === 'GET' || takes ? 'querystring' : 'body'
  const required = (input.required as readonly string[] | undefined)?.filter((parameter) => !inPath.has(parameter))
  const object = {
    type: 'object',
    properties: Object.fromEntries(others),
    ...(required?.length ? { required } : {}),
    ...(place === 'body' ? { examples: [example.input] } : {}),
  }
  return {
    operationId: at === 0 ? name : `${name}ByPost`,
    summary,
    tags: [group],
    ...(params.length > 0 ? { params: { type: 'object', properties: Object.fromEntries(params) } } : {}),
    ...(others.length > 0 ? { [place]: object } : {}),
    ...(takes ? { consumes: [takes], body: { type: 'string' } } : {}),
    response: {
      200: gives ? textOf(gives, String(example.data)) : envelopeOf(answer, example.data, envelope),
      ...errorResponses(errors, group),
    },
  } as FastifySchema
}

function textOf([first, ...others]: readonly string[], example: string) {
  const content = Object.fromEntries(others.map((type) => [type, { schema: { type: 'string' } }]))
  return {
    description: 'Done',
    content: { [String(first)]: { schema: { type: 'string', examples: [example] } }, ...content },
  }
}

function envelopeOf(answer: TSchema, data: unknown, envelope: Envelope | undefined) {
  const properties = {
    data: answer,
    ...(envelope?.bare ? {} : { message: { type: 'string', const: 'Success' }, error_info: { type: 'null' } }),
    ...(isList(answer) && !envelope ? { totalRecords: { type: 'integer' } } : {}),
    ...envelope?.beside.properties,
  }
  const example = { ...(envelope?.bare ? { data } : success(data)), ...envelope?.example }
  return { description: 'Done', type: 'object', properties, examples: [example] }
}

function isList(answer: TSchema): boolean {
  const { type, anyOf } = answer as { type?: string; anyOf?: readonly TSchema[] }
  return type === 'array' || (anyOf ?? []).some(isList)
}

function errorResponses(errors: readonly ErrorName[], group: OperationGroup) {
  const rows = [...EVERYWHERE, ...errors].map((name) => ERRORS[name])
  const statuses = [...new Set(rows.map(({ status }) => status))].sort()
  return Object.fromEntries(
    statuses.map((status) => {
      const own = rows.filter((row) => row.status === status)
      const codes = [...new Set(own.map(({ v2, sentence }) => `${v2} ${sentence}`))]
      const [first] = own
      const examples = first ? [failure(first.v2, first.sentence, group)] : []
      return [status, { description: codes.join('; '), type: 'object', properties: ERROR_BODY, examples }]
    }),
  )
}

const ERROR_BODY = {
  error_info: {
    type: 'object',
    properties: { error_message: { type: 'string' }, error_code: { type: 'integer' } },
  },
  message: { type: 'string' },
} as const

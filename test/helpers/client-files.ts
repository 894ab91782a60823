import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TObject, TSchema } from 'typebox'
import type { Operation, Route } from '../../packages/api/src/v2/operation.ts'
import { OPERATIONS } from '../../packages/api/src/v2/operations.ts'

/*
 * `npm run docs` writes packages/client/src/generated with this: a file for each group of operations of v2, with a method for each of them.
 */

export const CLIENT_FOLDER = fileURLToPath(new URL('../../packages/client/src/generated', import.meta.url))
const HEAD = '// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.\n'
const WIDTH = 140

/** Groups by the name of their property of the client. */
const PROPERTIES: Readonly<Record<Operation['group'], string>> = {
  SendEmail: 'messages',
  Message: 'messages',
  Domain: 'domains',
  Suppression: 'suppressions',
  Template: 'templates',
  Attachment: 'attachments',
  Credit: 'credits',
  Subaccount: 'subaccounts',
  Key: 'keys',
  GDPR: 'privacy',
  Audit: 'audit',
  Account: 'account',
  Events: 'events',
  Stats: 'statistics',
  Tags: 'tags',
  Webhook: 'webhooks',
}

/** The generated files of the client, by path. */
export function clientFiles(): Map<string, string> {
  const files = new Map<string, string>()
  for (const property of new Set(Object.values(PROPERTIES))) {
    const own = OPERATIONS.filter(({ group }) => PROPERTIES[group] === property)
    const path = join(CLIENT_FOLDER, `${property}.ts`)
    files.set(
      path,
      execFileSync('biome', ['format', `--stdin-file-path=${path}`], {
        input: fileOf(property, own),
        encoding: 'utf8',
      }),
    )
  }
  return files
}

/** Names of types that are in a file more than once, by their schema. */
type Shared = ReadonlyMap<string, string>

function fileOf(property: string, operations: readonly Operation[]): string {
  const one = property.replace(/s$/, '')
  const answers = operations.flatMap(({ answer, envelope }) => [
    [one, answer] as const,
    ...(envelope ? [['', envelope.beside] as const] : []),
  ])
  const inputs = operations.map(({ input }) => ['', input] as const)
  const taken = operations.flatMap(({ name }) => [`${capital(name)}Input`, `${capital(name)}Data`])
  const names = new Set([...taken, capital(property)])
  const shared = new Map([...sharedIn(answers, names, 'Shown'), ...sharedIn(inputs, names, 'Given')])
  const ofShared = [...shared].map(
    ([json, name]) => `export interface ${name} {\n${membersOf(JSON.parse(json) as TObject, shared).join('\n')}\n}\n`,
  )
  const uses = operations.some(({ takes }) => takes) ? 'Call, CallOptions, FileBody' : 'Call, CallOptions'
  return `${HEAD}import type { ${uses} } from '../call.ts'

${[...ofShared, ...operations.map((one) => typesOf(one, shared))].filter((text) => text !== '').join('\n')}
export class ${capital(property)} {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }
${operations.map(methodOf).join('')}}
`
}

function typesOf(operation: Operation, shared: Shared): string {
  const { name, input, answer, envelope, gives, takes } = operation
  const members = membersOf(input, shared)
  if (takes) members.push('readonly body: FileBody')
  const types = members.length === 0 ? [] : [`export interface ${capital(name)}Input {\n${members.join('\n')}\n}\n`]
  const data = typeOf(answer, shared)
  if (envelope) {
    const beside = membersOf(envelope.beside, shared).join('\n')
    types.push(`export interface ${capital(name)}Data {\nreadonly data: ${data}\n${beside}\n}\n`)
  } else if (!gives) types.push(`export type ${capital(name)}Data = ${data}\n`)
  return types.join('\n')
}

function methodOf(operation: Operation): string {
  const { name, summary, scope, routes, input, gives, takes, envelope } = operation
  const [path, method] = routes[0] as Route
  const row = [
    `method: '${method}', path: '${path}'`,
    ...(takes ? [`takes: '${takes}'`] : []),
    ...(gives ? [`gives: 'stream'`] : envelope ? [`gives: 'whole'`] : []),
  ]
  const isEmpty = membersOf(input, new Map()).length === 0 && !takes
  const isOptional = ((input as Shape).required ?? []).length === 0 && !takes && !path.includes(':')
  const parameters = [
    ...(isEmpty ? [] : [`input: ${capital(name)}Input${isOptional ? ' = {}' : ''}`]),
    'options?: CallOptions',
  ]
  const result = gives ? 'ReadableStream<Uint8Array>' : `${capital(name)}Data`
  return `
${comment(scope === null ? `${summary}.` : `${summary}. Needs the scope ${scope}.`)}
  ${methodName(operation)}(${parameters.join(', ')}): Promise<${result}> {
    return this.#call({ ${row.join(', ')} }, ${isEmpty ? '{}' : 'input'}, options)
  }
`
}

/** `addDomain` of the group Domain is `add`. */
function methodName({ name, group }: Operation): string {
  const noun = group.replace(/s$/, '')
  const left = name.replace(new RegExp(`(?:${noun}|${noun.toLowerCase()})(?:s(?![a-z]))?`), '')
  return left === '' || name === 'sendEmail' ? name : `${left[0]?.toLowerCase()}${left.slice(1)}`
}

interface Shape {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly TSchema[]
  readonly items?: TSchema
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: TSchema | boolean
  readonly patternProperties?: Readonly<Record<string, TSchema>>
  readonly description?: string
}

/** Members from which an object that is there more than once gets a name. */
const MANY = 3

/** Objects that are there more than once, by the property that has them; with the suffix where another one has that name. */
function sharedIn(
  schemas: readonly (readonly [name: string, schema: TSchema])[],
  taken: Set<string>,
  suffix: string,
): Map<string, string> {
  const found = new Map<string, { readonly name: string; count: number }>()
  const look = (schema: TSchema, name: string): void => {
    const { anyOf = [], items, properties = {} } = schema as Shape
    for (const one of [...anyOf, ...(items ? [items] : [])]) look(one, name)
    if (Object.keys(properties).length >= MANY && name !== '') {
      const json = JSON.stringify(schema)
      const known = found.get(json) ?? { name, count: 0 }
      known.count++
      found.set(json, known)
    }
    for (const [of, one] of Object.entries(properties)) look(one, of)
  }
  for (const [name, schema] of schemas) look(schema, name)
  const shared = new Map<string, string>()
  for (const [json, { name, count }] of found) {
    if (count < 2) continue
    let free = capital(name.replace(/\W/g, ''))
    while (taken.has(free)) free = `${free}${suffix}`
    taken.add(free)
    shared.set(json, free)
  }
  return shared
}

function typeOf(schema: TSchema, shared: Shared): string {
  const shape = schema as Shape
  if (shape.const !== undefined) return JSON.stringify(shape.const)
  if (shape.enum) return union(shape.enum.map((one) => JSON.stringify(one)))
  if (shape.anyOf) return union(shape.anyOf.map((one) => typeOf(one, shared)))
  if (shape.type === 'integer') return 'number'
  if (shape.type === 'array') return `readonly (${shape.items ? typeOf(shape.items, shared) : 'unknown'})[]`
  if (shape.type === 'object') return shared.get(JSON.stringify(schema)) ?? objectOf(shape, shared)
  return shape.type ?? 'unknown'
}

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ')

function objectOf(shape: Shape, shared: Shared): string {
  const { properties = {}, additionalProperties, patternProperties } = shape
  if (Object.keys(properties).length > 0) return `{\n${membersOf(shape as unknown as TObject, shared).join('\n')}\n}`
  const values = patternProperties ? Object.values(patternProperties)[0] : additionalProperties
  return `Readonly<Record<string, ${typeof values === 'object' ? typeOf(values, shared) : 'unknown'}>>`
}

function membersOf(shape: TObject, shared: Shared): string[] {
  const { properties, required = [] } = shape as Shape
  return Object.entries(properties ?? {}).map(([name, schema]) => {
    const { description } = schema as Shape
    const type = typeOf(schema, shared)
    const member = required.includes(name)
      ? `${quoted(name)}: ${type}`
      : `${quoted(name)}?: ${union([type, 'undefined'])}`
    return `${description ? `${comment(description)}\n` : ''}readonly ${member}`
  })
}

const quoted = (name: string): string => (/^\w+$/.test(name) ? name : JSON.stringify(name))
const capital = (name: string): string => `${name[0]?.toUpperCase()}${name.slice(1)}`

function comment(text: string): string {
  const lines: string[] = []
  for (const word of text.replace(/\s+/g, ' ').replaceAll('*/', '* /').split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < WIDTH) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.length <= 1 ? `/** ${lines.join('')} */` : `/**\n${lines.map((line) => ` * ${line}`).join('\n')}\n */`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(CLIENT_FOLDER, { recursive: true })
  for (const name of readdirSync(CLIENT_FOLDER)) rmSync(join(CLIENT_FOLDER, name))
  for (const [path, text] of clientFiles()) writeFileSync(path, text)
}

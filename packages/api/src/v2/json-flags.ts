import type { TSchema } from 'typebox'

interface Kind {
  readonly type?: string
  readonly items?: TSchema
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly anyOf?: readonly TSchema[]
  readonly enum?: readonly unknown[]
}

/** Returns the alternatives of the schema, or the schema itself. */
export function kindsOf(schema: TSchema): Kind[] {
  const { anyOf } = schema as Kind
  return anyOf ? anyOf.flatMap(kindsOf) : [schema as Kind]
}

export function typesOf(schema: TSchema): Set<string> {
  return new Set(kindsOf(schema).map(({ type }) => type ?? ''))
}

const FLAGS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [1, true],
  ['1', true],
  ['true', true],
  [0, false],
  ['0', false],
  ['false', false],
])

/**
 * Returns the JSON value with the other spellings of true and false as such, where the schema has a flag: the error of a flag names 1 and 0, and clients
 * of loosely typed languages write them. The schema rejects other values.
 */
export function readFlags(schema: TSchema, value: unknown): unknown {
  if (!hasFlags(schema)) return value
  if (isFlag(schema)) {
    const types = typesOf(schema)
    const isNumber = typeof value === 'number' && (types.has('integer') || types.has('number'))
    return isNumber ? value : (FLAGS.get(value) ?? value)
  }
  const kinds = kindsOf(schema)
  if (Array.isArray(value)) {
    const items = kinds.flatMap(({ items }) => items ?? [])[0]
    return items ? value.map((item) => readFlags(items, item)) : value
  }
  const properties = kinds.find(({ type }) => type === 'object')?.properties
  if (!properties || typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, one]): [string, unknown] => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined
    return [name, own ? readFlags(own, one) : one]
  })
  return Object.fromEntries(entries)
}

/** A boolean, of which the schema does not have the spellings itself. */
function isFlag(schema: TSchema): boolean {
  const types = typesOf(schema)
  return types.has('boolean') && !types.has('string') && !kindsOf(schema).some((kind) => kind.enum)
}

const known = new WeakMap<TSchema, boolean>()

/** Whether there is a flag anywhere: a call with 10,000 recipients has none, and is not copied. */
function hasFlags(schema: TSchema): boolean {
  const before = known.get(schema)
  if (before !== undefined) return before
  const inner = kindsOf(schema).flatMap(({ items, properties }) => [
    ...(items ? [items] : []),
    ...Object.values(properties ?? {}),
  ])
  const found = isFlag(schema) || inner.some(hasFlags)
  known.set(schema, found)
  return found
}

/** A JSON schema, as TypeBox makes it. */
export type Schema = Readonly<Record<string, unknown>>

/** TypeBox's own types describe only what each kind has. */
export function asSchema(schema: object): Schema
export function asSchema(schema: object | undefined): Schema | undefined
export function asSchema(schema: object | undefined): Schema | undefined {
  return schema as Schema | undefined
}

/** A parameter or a field of an answer, as a reader sees it. */
export interface Field {
  readonly name: string
  /** "string", "list of objects", "integer or null". */
  readonly type: string
  readonly required: boolean
  readonly description: string
  /** Limits: "at most 100 characters". */
  readonly limits: readonly string[]
  /** Values, if only these are valid. */
  readonly values: readonly string[]
  /** The fields of the object, or of each object of the list. */
  readonly fields: readonly Field[]
}

interface Shape {
  readonly type: string
  /** The type of several of them: "strings". */
  readonly plural: string
  readonly limits: readonly string[]
  readonly values: readonly string[]
  readonly fields: readonly Field[]
}

/** Schemas nest at most five deep today. */
const MAX_DEPTH = 8
const NOTHING = { limits: [], values: [], fields: [] } as const
const PLURALS: Readonly<Record<string, string>> = {
  string: 'strings',
  integer: 'integers',
  number: 'numbers',
  boolean: 'booleans',
  object: 'objects',
}

/** Returns the fields of an object's schema, in its order. Without a schema there are none. */
export function fieldsOf(schema: Schema | undefined, depth = 0): Field[] {
  if (!schema || depth > MAX_DEPTH) return []
  const { properties = {}, required = [], patternProperties, additionalProperties } = schema
  const names = required as readonly string[]
  const own = Object.entries(properties as Readonly<Record<string, Schema>>).map(([name, one]) =>
    fieldOf(name, one, names.includes(name), depth),
  )
  const open = Object.values((patternProperties ?? {}) as Readonly<Record<string, Schema>>)
  if (typeof additionalProperties === 'object') open.push(additionalProperties as Schema)
  return [...own, ...open.map((one) => fieldOf('any name', one, false, depth))]
}

function fieldOf(name: string, schema: Schema, required: boolean, depth: number): Field {
  const { type, limits, values, fields } = shapeOf(schema, depth)
  return { name, type, required, description: descriptionOf(schema), limits, values, fields }
}

function descriptionOf(schema: Schema): string {
  if (typeof schema.description === 'string') return schema.description
  return alternatives(schema).map(descriptionOf).find(Boolean) ?? ''
}

function alternatives({ anyOf, oneOf }: Schema): readonly Schema[] {
  // A list that must be empty is only tolerated, for clients that write an object without fields so.
  return ((anyOf ?? oneOf ?? []) as readonly Schema[]).filter(({ maxItems }) => maxItems !== 0)
}

/** Returns what an answer is: "object", "list of objects", "string". */
export function typeOf(schema: Schema): string {
  return shapeOf(schema, 0).type
}

/** Returns the fields of an object, or of the objects of a list. */
export function fieldsWithin(schema: Schema): readonly Field[] {
  return shapeOf(schema, 0).fields
}

function shapeOf(schema: Schema, depth: number): Shape {
  const several = alternatives(schema)
  if (several.length > 0) return oneOfShapes(several.map((one) => shapeOf(one, depth)))
  if (Array.isArray(schema.enum)) return { ...NOTHING, ...typed('string'), values: schema.enum.map(String) }
  if ('const' in schema) return { ...NOTHING, ...typed(typeof schema.const), values: [JSON.stringify(schema.const)] }
  if (schema.type === 'array') {
    const of = shapeOf((schema.items ?? {}) as Schema, depth + 1)
    return { ...of, type: `list of ${of.plural}`, plural: `lists of ${of.plural}`, limits: limitsOf(schema) }
  }
  if (schema.type === 'object') return { ...NOTHING, ...typed('object'), fields: fieldsOf(schema, depth + 1) }
  return { ...NOTHING, ...typed(String(schema.type ?? 'any')), limits: limitsOf(schema) }
}

function typed(type: string): Pick<Shape, 'type' | 'plural'> {
  return type === 'any' ? { type: 'any type', plural: 'values' } : { type, plural: PLURALS[type] ?? type }
}

function oneOfShapes(shapes: readonly Shape[]): Shape {
  const unique = (texts: readonly string[]) => [...new Set(texts)]
  const fields = new Map(shapes.flatMap((shape) => shape.fields).map((field) => [field.name, field]))
  return {
    type: unique(shapes.map(({ type }) => type)).join(' or '),
    plural: unique(shapes.map(({ plural }) => plural)).join(' or '),
    limits: unique(shapes.flatMap(({ limits }) => limits)),
    values: unique(shapes.flatMap(({ values }) => values)),
    fields: [...fields.values()],
  }
}

function limitsOf({ minimum, maximum, minLength, maxLength, minItems, maxItems }: Schema): string[] {
  return [
    range(minimum, maximum, ''),
    range(minLength === 1 ? undefined : minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' elements'),
    ...(minLength === 1 ? ['not empty'] : []),
  ].filter((text) => text !== '')
}

function range(least: unknown, most: unknown, unit: string): string {
  const shown = (value: unknown) => Number(value).toLocaleString('en-GB')
  if (least !== undefined && most !== undefined) return `${shown(least)} to ${shown(most)}${unit}`
  if (most !== undefined) return `at most ${shown(most)}${unit}`
  return least === undefined ? '' : `at least ${shown(least)}${unit}`
}

/** A schema as models and the clients of all vendors read it. */
export type PlainSchema = Readonly<Record<string, unknown>>

interface Given {
  readonly [keyword: string]: unknown
  readonly type?: string
  readonly anyOf?: readonly Given[]
  readonly properties?: Readonly<Record<string, Given>>
  readonly additionalProperties?: unknown
  readonly items?: Given
}

/** Keywords without schemas in them. Patterns are left out: their dialects differ, and the service checks them. */
const KEYWORDS = [
  'type',
  'description',
  'enum',
  'const',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'required',
] as const

/**
 * Returns the schema without anyOf: clients refuse it or lose the tool, and with it every other one, for some of its uses. What a parameter may also be,
 * such as null or a number as text, is left out; the service accepts it as before.
 */
export function plainSchema(schema: object): PlainSchema {
  const { anyOf, ...own } = schema as Given
  if (!anyOf) return plainOf(own)
  const kinds = anyOf.filter(({ type, maxItems }) => type !== 'null' && maxItems !== 0)
  const values = kinds.map((kind) => kind.const)
  if (values.length > 0 && values.every((value) => typeof value === 'string'))
    return { ...described(own), type: 'string', enum: values }
  // A number may be written as text everywhere, but not the reverse.
  const kind = ORDER.map((type) => kinds.find((one) => one.type === type)).find(Boolean) ?? kinds[0]
  return { ...plainSchema(kind ?? {}), ...described(own) }
}

const ORDER = ['array', 'object', 'boolean', 'string']

function described({ description }: Given): PlainSchema {
  return description === undefined ? {} : { description }
}

function plainOf(schema: Given): PlainSchema {
  const { properties, additionalProperties, items } = schema
  const kept = KEYWORDS.filter((keyword) => schema[keyword] !== undefined).map((keyword) => [keyword, schema[keyword]])
  const members = properties && firstSpellings(properties).map(([name, member]) => [name, plainSchema(member)])
  return {
    ...Object.fromEntries(kept),
    ...(schema.type === undefined && Array.isArray(schema.enum) ? { type: 'string' } : {}),
    ...(members ? { properties: Object.fromEntries(members) } : {}),
    ...(typeof additionalProperties === 'object' && additionalProperties !== null
      ? { additionalProperties: plainSchema(additionalProperties) }
      : {}),
    ...(items ? { items: plainSchema(items) } : {}),
  }
}

/** Of the spellings of one parameter, such as `startdate` and `start_date`, the first. */
function firstSpellings(properties: Readonly<Record<string, Given>>): readonly (readonly [string, Given])[] {
  const seen = new Set<string>()
  return Object.entries(properties).filter(([name]) => {
    const word = name.toLowerCase().replaceAll('_', '')
    return !seen.has(word) && seen.add(word)
  })
}

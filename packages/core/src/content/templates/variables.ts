import { invalidParameter, ServiceError } from '../../platform/errors.ts'

/** The types of variables. Values are always transmitted as text and inserted unchanged. */
export const VARIABLE_TYPES = ['string', 'number', 'boolean', 'date'] as const
export type VariableType = (typeof VARIABLE_TYPES)[number]

/** A merge attribute declared by a template. */
export interface TemplateVariable {
  readonly name: string
  readonly type: VariableType
  /** Whether a send without a value for it is rejected, unless there is a default. */
  readonly required: boolean
  /** Used if a recipient has no value. */
  readonly default: string | null
}

export type VariableValues = Readonly<Record<string, string>>

/** Maximum number of variables, since each of them costs time for each recipient of a large call. */
const MAX_VARIABLES = 50
const MAX_DEFAULT_LENGTH = 4096

/**
 * Validates a declaration. Throws parameterInvalid, which identifies the variable by its index: `variables[2].name`.
 */
export function checkVariables(variables: readonly TemplateVariable[]): void {
  if (variables.length > MAX_VARIABLES)
    throw invalidParameter('variables', `must have at most ${MAX_VARIABLES} entries`)
  const names = new Set<string>()
  for (const [at, { name, type, default: value }] of variables.entries()) {
    // The grammar of merge tags (v2 contract section 5.1).
    if (!/^[A-Za-z0-9_.-]{1,100}$/.test(name)) {
      throw invalidParameter(`variables[${at}].name`, 'must have 1 to 100 letters, digits, "_", "." or "-"')
    }
    if (names.has(name.toLowerCase())) throw invalidParameter(`variables[${at}].name`, 'is declared twice')
    names.add(name.toLowerCase())
    if (!VARIABLE_TYPES.includes(type)) {
      throw invalidParameter(`variables[${at}].type`, `must be one of: ${VARIABLE_TYPES.join(', ')}`)
    }
    if (value === null) continue
    const parameter = `variables[${at}].default`
    if (value.length > MAX_DEFAULT_LENGTH) {
      throw invalidParameter(parameter, `must have at most ${MAX_DEFAULT_LENGTH} characters`)
    }
    if (value.includes('\0') || !value.isWellFormed())
      throw invalidParameter(parameter, 'must be well-formed Unicode without NUL')
    const problem = problemOf(type, value)
    if (problem) throw invalidParameter(parameter, problem)
  }
}

/** Returns the default values; undefined if there are none. */
export function defaultsOf(variables: readonly TemplateVariable[]): VariableValues | undefined {
  const defaults = variables.flatMap(({ name, default: value }) => (value === null ? [] : [[name, value] as const]))
  return defaults.length === 0 ? undefined : Object.fromEntries(defaults)
}

/**
 * Yields the errors for a recipient's values, in the order of declaration: parameterMissing for a required variable
 * without a value, parameterInvalid for a value of the wrong type. Empty values count as missing. Names match like
 * merge tags.
 */
export function* refusalsOf(
  variables: readonly TemplateVariable[],
  values: VariableValues,
  nameOf: (variable: string) => string,
): Generator<ServiceError> {
  let folded: Map<string, string> | undefined
  for (const { name, type, required, default: fallback } of variables) {
    let value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined) {
      folded ??= new Map(Object.entries(values).map(([key, value]) => [key.toLowerCase(), value]))
      value = folded.get(name.toLowerCase())
    }
    if (value === undefined || value === '') {
      if (required && fallback === null)
        yield new ServiceError('parameterMissing', { values: { parameter: nameOf(name) } })
      continue
    }
    const problem = problemOf(type, value)
    if (problem) yield invalidParameter(nameOf(name), problem)
  }
}

function problemOf(type: VariableType, value: string): string | undefined {
  if (type === 'number' && !/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i.test(value)) return 'must be a number'
  if (type === 'boolean' && !/^(true|false|1|0)$/i.test(value)) return 'must be true or false'
  if (type === 'date' && !isDate(value)) return 'must be a date like 2026-01-05 or 2026-01-05T10:11:12Z'
  return undefined
}

/** ISO 8601: an existing calendar date, optionally with a time. */
function isDate(value: string): boolean {
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})(?:[T ]([0-9:.]+(?:Z|[+-]\d{2}:?\d{2})?))?$/.exec(value) ?? []
  // Otherwise 31 February would be read as 3 March.
  if (day === undefined || new Date(`${day}T00:00Z`).getUTCDate() !== Number(day.slice(8))) return false
  return time === undefined || /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/.test(time)
}

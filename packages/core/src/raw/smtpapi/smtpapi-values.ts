/** A validation error, for the notice to the sender: `to[3]`, "must be text". */
export interface SmtpApiProblem {
  readonly path: string
  readonly problem: string
}

/** Maximum number of errors per notice. */
const MAX_PROBLEMS = 20

/**
 * Reads values of unknown type and collects validation errors. Returns undefined for absent and for invalid values; null counts as
 * absent. Objects with keys chosen by the client become maps, in which no key has a special meaning.
 */
export class Values {
  readonly problems: SmtpApiProblem[] = []

  wrong(path: string, problem: string): undefined {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ path: shown(path), problem })
    return undefined
  }

  list(path: string, value: unknown, limit: number): readonly unknown[] | undefined {
    if (value === undefined) return undefined
    if (!Array.isArray(value)) return this.wrong(path, 'must be a list')
    return value.length > limit ? this.wrong(path, `must have at most ${limit} entries`) : value
  }

  texts(path: string, value: unknown, limit: number): readonly string[] | undefined {
    return this.list(path, value, limit)?.map((text, at) =>
      typeof text === 'string' ? text : (this.wrong(`${path}[${at}]`, 'must be text') ?? ''),
    )
  }

  text(path: string, value: unknown, limit: number): string | undefined {
    if (value === undefined) return undefined
    if (typeof value !== 'string') return this.wrong(path, 'must be text')
    return value.length > limit ? this.wrong(path, `must have at most ${limit} characters`) : value
  }

  /** Text; numbers and booleans are converted, as clients without strict types write them. Null is empty. */
  scalar(path: string, value: unknown): string {
    if (typeof value === 'string') return value
    if (value === null || value === undefined) return ''
    return typeof value === 'object' ? (this.wrong(path, 'must be text') ?? '') : String(value)
  }

  integer(path: string, value: unknown): number | undefined {
    if (value === undefined) return undefined
    return Number.isSafeInteger(value) ? (value as number) : this.wrong(path, 'must be a whole number, without quotes')
  }

  /** 0 or 1; also accepted as text, or as true and false. */
  flag(path: string, value: unknown): boolean | undefined {
    if (value === undefined) return undefined
    if (value === 1 || value === '1' || value === true || value === 'true') return true
    if (value === 0 || value === '0' || value === false || value === 'false' || value === '') return false
    return this.wrong(path, 'must be 0 or 1')
  }

  object(path: string, value: unknown): ReadonlyMap<string, unknown> | undefined {
    if (value === undefined) return undefined
    // PHP serializes an empty object as an empty list.
    if (Array.isArray(value) && value.length === 0) return new Map()
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return this.wrong(path, 'must be an object')
    return new Map(Object.entries(value).map(([key, member]) => [key, member ?? undefined]))
  }

  map<T>(
    path: string,
    value: unknown,
    limit: number,
    read: (path: string, member: unknown) => T | undefined,
  ): ReadonlyMap<string, T> | undefined {
    const members = this.object(path, value)
    if (!members) return undefined
    if (members.size > limit) return this.wrong(path, `must have at most ${limit} keys`)
    const entries = new Map<string, T>()
    for (const [key, member] of members) {
      const entry =
        key === '__proto__' ? this.wrong(`${path}.${key}`, 'is not allowed as a key') : read(`${path}.${key}`, member)
      if (entry !== undefined) entries.set(key, entry)
    }
    return entries
  }
}

/** Paths contain the client's keys, and are sent back in an email. */
function shown(path: string): string {
  const clean = path.replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, '?')
  return clean.length > 200 ? `${clean.slice(0, 200)}…` : clean
}

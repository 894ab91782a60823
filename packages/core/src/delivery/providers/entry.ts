import { ProvidersError } from './providers-error.ts'
import { DURATION_FORM, type MessageRate, parseDuration, parseRate, RATE_FORM } from './units.ts'
import type { YamlNode } from './yaml-tree.ts'

/** A text of the file with its line. */
export interface Located {
  readonly text: string
  readonly file: string
  readonly line: number
}

/** An entry of a file: its keys are read one by one, each with its type and bounds. */
export class Entry {
  readonly file: string
  readonly line: number
  readonly #name: string
  readonly #fields: ReadonlyMap<string, { readonly keyLine: number; readonly value: YamlNode }>

  /** Throws {@link ProvidersError} if the node is not a map, or has a key that is not listed. `name` is what errors call the entry. */
  constructor(node: YamlNode, name: string, keys: readonly string[]) {
    if (node.kind !== 'map') throw problemOf(node, `${name} must have keys: ${keys.join(', ')}`)
    this.file = node.file
    this.line = node.line
    this.#name = name
    this.#fields = node.entries
    for (const [key, { keyLine }] of node.entries) {
      if (!keys.includes(key)) {
        throw new ProvidersError(node.file, keyLine, `unknown key "${key}" in ${name}; use ${keys.join(', ')}`)
      }
    }
  }

  has(key: string): boolean {
    return this.#fields.has(key)
  }

  /** Returns an error about a key, or about the entry if it lacks the key. */
  problem(key: string, problem: string): ProvidersError {
    const line = this.#fields.get(key)?.value.line ?? this.line
    return new ProvidersError(this.file, line, problem)
  }

  /** Throws if the key is missing. */
  text(key: string): Located {
    return textOf(this.#required(key), key)
  }

  whole(key: string, least: number, most: number): number {
    const node = this.#required(key)
    const value = node.kind === 'scalar' ? node.value : undefined
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
    throw problemOf(node, `"${key}" must be a whole number from ${least} to ${most}${given(node)}`)
  }

  /** Throws unless the value is `true`. */
  yes(key: string): void {
    const node = this.#required(key)
    if (node.kind !== 'scalar' || node.value !== true) {
      throw problemOf(node, `"${key}" must be true${given(node)}; otherwise remove it`)
    }
  }

  oneOf<T extends string>(key: string, values: readonly T[]): T {
    const node = this.#required(key)
    const value = values.find((one) => node.kind === 'scalar' && node.value === one)
    if (value === undefined) throw problemOf(node, `"${key}" must be ${values.join(' or ')}${given(node)}`)
    return value
  }

  /** Returns seconds. */
  duration(key: string): number {
    return this.#parsed(key, parseDuration, DURATION_FORM)
  }

  rate(key: string): MessageRate {
    return this.#parsed(key, parseRate, RATE_FORM)
  }

  /** Returns the entries of a list; an empty array if the key is missing. */
  list(key: string, most: number): readonly YamlNode[] {
    const node = this.#fields.get(key)?.value
    if (node === undefined) return []
    if (node.kind !== 'list') throw problemOf(node, `"${key}" must be a list; write [] for an empty one`)
    const surplus = node.items[most]
    if (surplus) throw problemOf(surplus, `"${key}" must have at most ${most} entries (got ${node.items.length})`)
    return node.items
  }

  /** Returns the texts of a list, or the only text; an empty array if the key is missing. */
  texts(key: string, most: number): readonly Located[] {
    const node = this.#fields.get(key)?.value
    if (node?.kind === 'scalar') return [textOf(node, key)]
    return this.list(key, most).map((item) => textOf(item, key))
  }

  #required(key: string): YamlNode {
    const field = this.#fields.get(key)
    if (field) return field.value
    throw new ProvidersError(this.file, this.line, `${this.#name} must have the key "${key}"`)
  }

  #parsed<T>(key: string, parse: (text: string) => T | undefined, form: string): T {
    const node = this.#required(key)
    const value = node.kind === 'scalar' ? parse(String(node.value)) : undefined
    if (value === undefined) throw problemOf(node, `"${key}" must be ${form}${given(node)}`)
    return value
  }
}

function textOf(node: YamlNode, key: string): Located {
  if (node.kind === 'scalar' && typeof node.value === 'string' && node.value.trim() !== '') {
    return { text: node.value, file: node.file, line: node.line }
  }
  throw problemOf(node, `"${key}" must be text, in quotes if it is a number or a word such as true${given(node)}`)
}

function problemOf({ file, line }: YamlNode, problem: string): ProvidersError {
  return new ProvidersError(file, line, problem)
}

function given(node: YamlNode): string {
  return node.kind === 'scalar' ? ` (got ${JSON.stringify(node.value).slice(0, 60)})` : ` (got a ${node.kind})`
}

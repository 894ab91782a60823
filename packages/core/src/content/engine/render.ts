import { formatDate } from './dates.ts'
import { type Sink, TooMuch } from './sink.ts'
import type { Block, Expression, Path, Program } from './syntax.ts'
import { compare, escapeHtml, isTruthy, lengthOf, memberOf, toText } from './values.ts'

/** A context: the data, or the current item of a loop. */
interface Scope {
  readonly value: unknown
  readonly parent: Scope | undefined
  readonly loop: Loop | undefined
  /** Values of the names in `as |item index|`. */
  readonly named: ReadonlyMap<string, unknown> | undefined
}

interface Loop {
  readonly index: number
  readonly key: string | number
  readonly first: boolean
  readonly last: boolean
  readonly parent: Loop | undefined
}

/**
 * Maximum nodes and loop iterations per rendering: enough for a table of 10 MB, but stops nested loops that output
 * nothing.
 */
export const MAX_STEPS = 2_000_000
/** Maximum names in the list of those without a value. */
const MAX_MISSING = 50

/**
 * Evaluates a parsed template with its data. Nothing in the template or data is executed: a path reads only own members
 * of the data, and the helpers are a fixed list.
 */
export class Rendering {
  readonly #data: unknown
  readonly #sink: Sink
  #steps: number
  readonly #missing: Set<string> | undefined

  /** `missing` collects the names that are output without a value, as they are written in the template. */
  constructor(data: unknown, sink: Sink, steps = MAX_STEPS, missing?: Set<string>) {
    this.#data = data
    this.#sink = sink
    this.#steps = steps
    this.#missing = missing
  }

  /** Throws TooMuch. Returns the remaining number of steps. */
  run(program: Program): number {
    this.#program(program, { value: this.#data, parent: undefined, loop: undefined, named: undefined })
    return this.#steps
  }

  #program({ nodes }: Program, scope: Scope): void {
    for (const node of nodes) {
      this.#step()
      if (node.kind === 'text') this.#sink.write(node.value)
      else if (node.kind === 'block') this.#block(node, scope)
      else if (node.kind === 'output') {
        const value = this.#value(node.value, scope)
        if (value === undefined || value === null) this.#noteMissing(node.value)
        const text = toText(value)
        this.#sink.write(node.escaped ? escapeHtml(text) : text)
      }
    }
  }

  #noteMissing(value: Expression): void {
    if (!this.#missing || this.#missing.size >= MAX_MISSING || value.kind !== 'path') return
    this.#missing.add(`${'../'.repeat(value.up)}${value.data ? '@' : ''}${value.parts.join('.')}`)
  }

  #block(block: Block, scope: Scope): void {
    if (block.name === 'with') return
    const values = block.value.map((value) => this.#value(value, scope))
    const [value] = values
    if (block.name === 'each') this.#each(block, value, scope)
    else if (block.name === 'section') this.#section(block, value, scope)
    else if (block.name === 'if') this.#branch(block, isTruthyFor(block, value), scope)
    else if (block.name === 'unless') this.#branch(block, !isTruthyFor(block, value), scope)
    else this.#branch(block, compare(block.name, values), scope)
  }

  #branch({ program, otherwise, inverted }: Block, yes: boolean, scope: Scope): void {
    const taken = yes !== inverted ? program : otherwise
    if (taken) this.#program(taken, scope)
  }

  /**
   * `{{#path}}`: repeats for each item of a list, otherwise renders once with the value as context. Unlike for `#if`, 0
   * and "" are truthy.
   */
  #section(block: Block, value: unknown, scope: Scope): void {
    if (Array.isArray(value)) this.#each(block, value, scope)
    else if (typeof value === 'boolean' || value === null || value === undefined) {
      this.#branch(block, value === true, scope)
    } else this.#branch(block, true, this.#inner(block, value, scope, scope.loop, undefined))
  }

  #each(block: Block, value: unknown, scope: Scope): void {
    const list = typeof value === 'object' && value !== null ? value : []
    const keys = Array.isArray(list) ? undefined : Object.keys(list)
    const count = keys?.length ?? (list as unknown[]).length
    if (count === 0) this.#branch(block, false, scope)
    for (let index = 0; index < count; index++) {
      this.#step()
      const key = keys?.[index] ?? index
      const item = (list as Record<string | number, unknown>)[key]
      const loop = { index, key, first: index === 0, last: index === count - 1, parent: scope.loop }
      this.#branch(block, true, this.#inner(block, item, scope, loop, key))
    }
  }

  #inner({ program: { names } }: Block, value: unknown, scope: Scope, loop: Loop | undefined, key: unknown): Scope {
    if (names.length === 0) return { value, parent: scope, loop, named: scope.named }
    const named = new Map(scope.named)
    for (const [at, name] of names.entries()) named.set(name, at === 0 ? value : at === 1 ? key : undefined)
    return { value, parent: scope, loop, named }
  }

  #value(expression: Expression, scope: Scope): unknown {
    if (expression.kind === 'literal') return expression.value
    if (expression.kind === 'path') return this.#path(expression, scope)
    this.#step()
    const values = expression.values.map((value) => this.#value(value, scope))
    switch (expression.helper) {
      case 'length':
        return lengthOf(values[0])
      case 'insert':
        return toText(values[0]) === '' ? fallback(values[1]) : values[0]
      case 'formatDate':
        return formatDate(values[0], toText(values[1]).slice(0, MAX_FORMAT_LENGTH), values[2])
      default:
        return compare(expression.helper, values)
    }
  }

  #path({ data, up, parts, word }: Path, scope: Scope): unknown {
    if (data) return this.#loopWord(scope, up, parts)
    const [head] = parts
    if (up === 0 && head !== undefined && scope.named?.has(head) && (word || parts.length > 1)) {
      return members(scope.named.get(head), parts, 1)
    }
    let from: Scope | undefined = scope
    for (let level = 0; level < up && from; level++) from = from.parent
    return from && members(from.value, parts, 0)
  }

  #loopWord(scope: Scope, up: number, [name, ...rest]: readonly string[]): unknown {
    if (name === 'root' && up === 0) return members(this.#data, rest, 0)
    let loop = scope.loop
    for (let level = 0; level < up; level++) loop = loop?.parent
    if (rest.length > 0 || !loop) return undefined
    return name === 'index' || name === 'key' || name === 'first' || name === 'last' ? loop[name] : undefined
  }

  #step(): void {
    if (--this.#steps < 0) throw new TooMuch('steps')
  }
}

const MAX_FORMAT_LENGTH = 1000

function isTruthyFor({ includeZero }: Block, value: unknown): boolean {
  return isTruthy(value) || (includeZero && value === 0)
}

function members(value: unknown, names: readonly string[], from: number): unknown {
  let found = value
  for (let at = from; at < names.length; at++) found = memberOf(found, names[at] as string)
  return found
}

/** The fallback of `insert` may also be written `"default=Text"`. */
function fallback(value: unknown): string {
  return toText(value).replace(/^default=/, '')
}

import { replacementOf } from './replacements.ts'
import { type Expression, type Helper, type Path, SyntaxProblem } from './syntax.ts'
import type { Word } from './words.ts'

/** Helpers and the number of arguments each takes. The list is fixed; helpers cannot be registered. */
const HELPERS: Readonly<Record<Helper, readonly [min: number, max: number]>> = {
  equals: [2, 2],
  notEquals: [2, 2],
  greaterThan: [2, 2],
  lessThan: [2, 2],
  and: [2, 50],
  or: [2, 50],
  length: [1, 1],
  formatDate: [2, 3],
  insert: [1, 2],
}
const MAX_DEPTH = 20

export interface Call {
  /** The first expression of the tag. */
  readonly head: Expression
  readonly values: Expression[]
  readonly named: ReadonlyMap<string, Expression>
  /** The names in `as |item index|`. */
  readonly names: readonly string[]
}

/** Parses the words of one tag. */
export class Reader {
  readonly #text: string
  readonly #words: readonly Word[]
  readonly #end: number
  #next = 0

  constructor(text: string, words: readonly Word[], end: number) {
    this.#text = text
    this.#words = words
    this.#end = end
  }

  /** Parses an expression with its arguments, named arguments and block parameter names. */
  call(depth = 0): Call {
    const head = this.expression(depth)
    const values: Expression[] = []
    const named = new Map<string, Expression>()
    let names: string[] = []
    while (!this.#ended(depth)) {
      const key = this.#key()
      if (key !== undefined) named.set(key, this.expression(depth))
      else if (named.size > 0) throw this.#wrong('positional argument after a named argument')
      else if (depth === 0 && this.#isMark('|', 1) && this.#isName('as')) names = this.#names()
      else values.push(this.expression(depth))
    }
    return { head, values, named, names }
  }

  /** Whether all words of the tag are parsed. */
  done(): boolean {
    return this.#next >= this.#words.length
  }

  expression(depth: number): Expression {
    const word = this.#words[this.#next]
    if (!word) throw this.#wrong('expression expected')
    if (this.#isMark('(')) return this.#nested(depth + 1)
    if (word.kind === 'string' || word.kind === 'number') {
      this.#next++
      return { kind: 'literal', value: word.kind === 'string' ? word.text : Number(word.text) }
    }
    if (word.kind === 'name' && !word.bracketed && CONSTANTS.has(word.text) && !this.#isSeparator(1)) {
      this.#next++
      return { kind: 'literal', value: CONSTANTS.get(word.text) }
    }
    return this.#path()
  }

  #nested(depth: number): Expression {
    if (depth > MAX_DEPTH) throw this.#wrong('expression is nested too deeply')
    const { at } = this.#words[this.#next++] as Word
    const { head, values, named } = this.call(depth)
    if (!this.#isMark(')')) throw this.#wrong('")" is missing')
    this.#next++
    return toCall(this.#text, at, head, values, named)
  }

  #ended(depth: number): boolean {
    return this.done() || (depth > 0 && this.#isMark(')'))
  }

  #key(): string | undefined {
    const word = this.#words[this.#next]
    if (word?.kind !== 'name' || !this.#isMark('=', 1)) return undefined
    this.#next += 2
    return word.text
  }

  #names(): string[] {
    this.#next += 2
    const names: string[] = []
    while (!this.#isMark('|')) {
      const word = this.#words[this.#next++]
      if (word?.kind !== 'name') throw this.#wrong('name expected between "|"')
      names.push(word.text)
    }
    this.#next++
    if (!this.done()) throw this.#wrong('unexpected text after "|"')
    return names
  }

  /** `a.b`, `a/b`, `../a`, `this.a`, `./a`, `@root.a`, `a.[b c]`, `list.0` */
  #path(): Path {
    const data = this.#isMark('@')
    if (data) this.#next++
    const parts: string[] = []
    let up = 0
    let scoped = false
    for (;;) {
      const word = this.#words[this.#next++]
      const own = word?.kind === 'mark' ? word.text : word?.kind === 'name' && !word.bracketed ? word.text : ''
      if (own === '.' || own === '..' || own === 'this') {
        if (parts.length > 0) throw this.#wrong(`${JSON.stringify(own)} can only begin a path`, 1)
        scoped = true
        if (own === '..') up++
      } else if (word && word.kind !== 'mark') parts.push(word.text)
      else throw this.#wrong('name expected', 1)
      // White space ends a path.
      if (!this.#isSeparator() || !this.#joined() || !this.#joined(1)) break
      this.#next++
    }
    return { kind: 'path', data, up, parts, word: parts.length === 1 && !scoped && !data }
  }

  #isSeparator(ahead = 0): boolean {
    return this.#isMark('.', ahead) || this.#isMark('/', ahead)
  }

  /** Whether the next word directly follows the previous one, without white space. */
  #joined(ahead = 0): boolean {
    const word = this.#words[this.#next + ahead]
    const before = this.#words[this.#next + ahead - 1]
    return word !== undefined && before !== undefined && endOf(this.#text, before) === word.at
  }

  #isMark(mark: string, ahead = 0): boolean {
    const word = this.#words[this.#next + ahead]
    return word?.kind === 'mark' && word.text === mark
  }

  #isName(name: string): boolean {
    const word = this.#words[this.#next]
    return word?.kind === 'name' && word.text === name
  }

  #wrong(problem: string, back = 0): SyntaxProblem {
    return new SyntaxProblem(this.#text, this.#words[this.#next - back]?.at ?? this.#end, problem)
  }
}

const CONSTANTS = new Map<string, boolean | null | undefined>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['undefined', undefined],
])

function endOf(text: string, word: Word): number {
  if (word.kind === 'name' && word.bracketed) return word.at + word.text.length + 2
  if (word.kind !== 'string') return word.at + word.text.length
  // A quoted string is not part of a path.
  return text.length + 1
}

/** Converts a tag with arguments, or a nested call, to a call. Throws SyntaxProblem for an unknown helper. */
export function toCall(
  text: string,
  at: number,
  head: Expression,
  values: readonly Expression[],
  named: ReadonlyMap<string, Expression>,
): Expression {
  const helper = helperOf(head)
  if (helper === undefined) {
    const name = head.kind === 'path' ? head.parts.join('.') : 'this'
    throw new SyntaxProblem(text, at, `unknown helper ${JSON.stringify(name.slice(0, 100))}; ${replacementOf(name)}`)
  }
  const fallback = named.get('default')
  const all = helper === 'insert' && fallback ? [...values, fallback] : values
  return { kind: 'call', helper, values: checkCount(text, at, helper, foldLengths(helper, all)) }
}

export function helperOf(head: Expression): Helper | undefined {
  const name = head.kind === 'path' && head.word ? head.parts[0] : undefined
  return name !== undefined && Object.hasOwn(HELPERS, name) ? (name as Helper) : undefined
}

function checkCount(text: string, at: number, helper: Helper, values: readonly Expression[]): readonly Expression[] {
  const [min, max] = HELPERS[helper]
  if (values.length >= min && values.length <= max) return values
  const expected = min === max ? `${min}` : `${min} to ${max}`
  throw new SyntaxProblem(text, at, `${helper} takes ${expected} arguments (got ${values.length})`)
}

/**
 * Handles `greaterThan 0 length items`, the documented form of `(length items)`, if there are more arguments than
 * expected.
 */
export function foldLengths(name: string, values: readonly Expression[]): Expression[] {
  const expected = name === 'if' || name === 'unless' ? 1 : 2
  if (name === 'insert' || name === 'formatDate' || name === 'length' || name === 'each') return [...values]
  const folded: Expression[] = []
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as Expression
    const next = values[at + 1]
    const left = folded.length + values.length - at
    const isLength = value.kind === 'path' && value.word && value.parts[0] === 'length'
    if (isLength && next !== undefined && left > expected) {
      folded.push({ kind: 'call', helper: 'length', values: [next] })
      at++
    } else folded.push(value)
  }
  return folded
}

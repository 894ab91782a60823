import { refuse } from '../refusal.ts'

/** A condition of a query: `subject LIKE "%berth%"`. */
export interface Condition {
  /** Lower case. */
  readonly field: string
  readonly operator: Operator
  /** One, or two of BETWEEN, or the list of IN. */
  readonly values: readonly string[]
}

export const OPERATORS = [
  '=',
  '!=',
  '>',
  '>=',
  '<',
  '<=',
  'in',
  'not in',
  'like',
  'not like',
  'between',
  'contains',
] as const
export type Operator = (typeof OPERATORS)[number]

const MAX_LENGTH = 4000
const MAX_CONDITIONS = 20
const MAX_VALUES = 100

/** A quoted text, a word with dots, a comparison, or a mark. No two alternatives begin alike, so reading takes linear time. */
const TOKEN = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([A-Za-z_][\w.]*)|([<>!]=|<>|[=<>])|([(),])|(\d+)/sy

interface Token {
  readonly kind: 'text' | 'word' | 'sign' | 'mark'
  readonly text: string
}

/**
 * Reads the query language of Email Activity: conditions joined by AND, in parentheses or not. Throws V3Refusal, which names what is wrong, for what is not
 * in it, and for OR.
 */
export function parseQuery(query: string): Condition[] {
  if (query.length > MAX_LENGTH) throw wrong(`must have at most ${MAX_LENGTH} characters`)
  const tokens = new Tokens(query)
  const conditions: Condition[] = []
  let open = 0
  while (!tokens.isAtEnd || conditions.length > 0) {
    while (tokens.takes('mark', '(')) open++
    if (conditions.length === MAX_CONDITIONS) throw wrong(`must have at most ${MAX_CONDITIONS} conditions`)
    conditions.push(conditionIn(tokens))
    while (open > 0 && tokens.takes('mark', ')')) open--
    if (tokens.isAtEnd) break
    if (tokens.takes('word', 'or')) throw wrong('OR is not supported here; ask twice, or use IN')
    if (!tokens.takes('word', 'and')) throw wrong(`AND is missing before ${tokens.shown()}`)
  }
  if (open > 0) throw wrong('a parenthesis is not closed')
  return conditions
}

function conditionIn(tokens: Tokens): Condition {
  const name = tokens.next('word', 'the name of a field')
  if (name.toLowerCase() === 'contains' && tokens.takes('mark', '(')) {
    const field = tokens.next('word', 'the name of a field').toLowerCase()
    if (!tokens.takes('mark', ',')) throw wrong(`a comma is missing before ${tokens.shown()}`)
    const value = tokens.next('text', 'a text in quotes')
    if (!tokens.takes('mark', ')')) throw wrong('a parenthesis is not closed')
    return { field, operator: 'contains', values: [value] }
  }
  const field = name.toLowerCase()
  const isNegated = tokens.takes('word', 'not')
  const operator = operatorIn(tokens, isNegated)
  if (operator === 'in' || operator === 'not in') return { field, operator, values: listIn(tokens) }
  const first = valueIn(tokens)
  if (operator !== 'between') return { field, operator, values: [first] }
  if (!tokens.takes('word', 'and')) throw wrong('BETWEEN needs AND')
  return { field, operator, values: [first, valueIn(tokens)] }
}

function operatorIn(tokens: Tokens, isNegated: boolean): Operator {
  if (!isNegated) {
    const sign = tokens.take('sign')
    if (sign !== undefined) return sign === '<>' ? '!=' : (sign as Operator)
    if (tokens.takes('word', 'between')) return 'between'
  }
  for (const word of ['in', 'like'] as const) {
    if (tokens.takes('word', word)) return isNegated ? `not ${word}` : word
  }
  throw wrong(`an operator is missing before ${tokens.shown()}`)
}

/** `TIMESTAMP` before a time has no effect. */
function valueIn(tokens: Tokens): string {
  tokens.takes('word', 'timestamp')
  return tokens.next('text', 'a text in quotes')
}

function listIn(tokens: Tokens): string[] {
  if (!tokens.takes('mark', '(')) throw wrong('IN needs a list in parentheses')
  const values: string[] = []
  do {
    if (values.length === MAX_VALUES) throw wrong(`a list must have at most ${MAX_VALUES} values`)
    values.push(valueIn(tokens))
  } while (tokens.takes('mark', ','))
  if (!tokens.takes('mark', ')')) throw wrong('a parenthesis is not closed')
  return values
}

class Tokens {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(query: string) {
    this.#tokens = [...tokensIn(query)]
  }

  get isAtEnd(): boolean {
    return this.#at === this.#tokens.length
  }

  /** Words in any case. */
  takes(kind: Token['kind'], text: string): boolean {
    const token = this.#tokens[this.#at]
    if (token?.kind !== kind || token.text.toLowerCase() !== text) return false
    this.#at++
    return true
  }

  take(kind: Token['kind']): string | undefined {
    const token = this.#tokens[this.#at]
    if (token?.kind !== kind) return undefined
    this.#at++
    return token.text
  }

  next(kind: Token['kind'], what: string): string {
    const taken = this.take(kind)
    if (taken === undefined) throw wrong(`expected ${what}, not ${this.shown()}`)
    return taken
  }

  shown(): string {
    const token = this.#tokens[this.#at]
    return token ? `'${token.text.slice(0, 60)}'` : 'its end'
  }
}

function* tokensIn(query: string): Generator<Token> {
  for (let at = 0; at < query.length; ) {
    if (/\s/.test(query[at] ?? '')) {
      at++
      continue
    }
    TOKEN.lastIndex = at
    const found = TOKEN.exec(query)
    if (!found) throw wrong(`unexpected '${query.slice(at, at + 20)}'`)
    const [whole, double, single, word, sign, mark, number] = found
    const quoted = double ?? single
    if (quoted !== undefined) yield { kind: 'text', text: quoted.replace(/\\(.)/gs, '$1') }
    else if (number !== undefined) yield { kind: 'text', text: number }
    else if (word !== undefined) yield { kind: 'word', text: word }
    else yield { kind: sign === undefined ? 'mark' : 'sign', text: sign ?? mark ?? '' }
    at += whole.length
  }
}

/** The beginning is that of the provider's own errors. */
export function wrong(problem: string): Error {
  return refuse(400, `invalid syntax: ${problem}`, 'query')
}

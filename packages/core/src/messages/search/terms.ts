import { SEARCH_KEYS, type SearchKey } from './search.ts'
import { cut, SearchError, type Wrong } from './search-error.ts'

/** Characters of a search, and of one value: a subject has at most 998 in all. */
export const MAX_SEARCH_LENGTH = 2000
const MAX_TERMS = 40

/** A part of a search as it was written. */
export interface Term {
  /** If undefined, any field is meant. */
  readonly key: SearchKey | undefined
  readonly value: string
  readonly isQuoted: boolean
  /** Whether * follows. */
  readonly isBeginning: boolean
  readonly isNegated: boolean
  /** How errors name it. */
  readonly shown: string
}

/** Quotes as keyboards and word processors write them; each closes each. */
const QUOTES = '"„“”«»'
const BLANK = /\s/

/**
 * Splits a search into its parts, which are separated by blanks: words, `"words in quotes"`, `key:value`, each with `-` before it and `*` after it.
 * In quotes, `\"` is a quote and `\\` a backslash. A pure function in linear time.
 *
 * Throws SearchError (`search`), whose text names the part that is wrong.
 */
export function readTerms(text: string): Term[] {
  if (text.length > MAX_SEARCH_LENGTH) throw wrongAs('')('tooLong', String(MAX_SEARCH_LENGTH))
  const terms: Term[] = []
  for (let at = skipBlanks(text, 0); at < text.length; ) {
    if (terms.length === MAX_TERMS) throw wrongAs('')('tooMany', String(MAX_TERMS))
    const { term, end } = readTerm(text, at)
    terms.push(term)
    at = skipBlanks(text, end)
  }
  return terms
}

function wrongAs(part: string): Wrong {
  return (name, allowed = '') => new SearchError('search', { name, part: cut(part), allowed })
}

function isBlank(char: string | undefined): boolean {
  return char !== undefined && BLANK.test(char)
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && isBlank(text[at])) at++
  return at
}

function isQuote(char: string | undefined): boolean {
  return char !== undefined && QUOTES.includes(char)
}

function wordEnd(text: string, from: number): number {
  let end = from
  while (end < text.length && !isBlank(text[end])) end++
  return end
}

function readTerm(text: string, start: number): { term: Term; end: number } {
  const isNegated = text[start] === '-' && start + 1 < text.length && !isBlank(text[start + 1])
  const from = isNegated ? start + 1 : start
  if (isQuote(text[from])) return readValue(text, { key: undefined, start, isNegated }, from)
  let at = from
  while (at < text.length && !isBlank(text[at]) && text[at] !== ':' && !isQuote(text[at])) at++
  const word = text.slice(from, at)
  if (text[at] !== ':') return readValue(text, { key: undefined, start, isNegated }, from)
  const key = SEARCH_KEYS.find((one) => one === word.toLowerCase())
  if (key) return readValue(text, { key, start, isNegated }, valueStart(text, at + 1))
  // "Re: Berth 4", "10:30", "https://…" are texts; only what looks like a key is taken for a mistake.
  const isText = !/^[a-z]+$/i.test(word) || at + 1 === text.length || isBlank(text[at + 1]) || text[at + 1] === '/'
  if (!isText) throw wrongAs(`${word}:`)('unknownKey', SEARCH_KEYS.join(', '))
  return readValue(text, { key: undefined, start, isNegated }, from)
}

/** A value may follow its key after a blank, unless that is the next key. */
function valueStart(text: string, at: number): number {
  if (!isBlank(text[at])) return at
  const next = skipBlanks(text, at)
  const word = text.slice(next, wordEnd(text, next))
  const isKey = SEARCH_KEYS.some((one) => word.replace(/^-/, '').toLowerCase().startsWith(`${one}:`))
  return isKey ? at : next
}

type Begun = Pick<Term, 'key' | 'isNegated'> & { readonly start: number }

function readValue(text: string, { key, start, isNegated }: Begun, from: number): { term: Term; end: number } {
  const isQuoted = isQuote(text[from])
  const { value, end } = isQuoted ? readQuoted(text, from + 1, start) : readWord(text, from)
  const isBeginning = isQuoted ? text[end] === '*' : value.endsWith('*')
  const after = isQuoted && isBeginning ? end + 1 : end
  const shown = text.slice(start, after)
  if (isQuoted && after < text.length && !isBlank(text[after]))
    throw wrongAs(text.slice(start, after + 1))('afterQuote')
  const given = !isQuoted && isBeginning ? value.slice(0, -1) : value
  if (given === '') throw wrongAs(shown)(key === undefined ? 'noWord' : 'noValue')
  return { term: { key, value: given, isQuoted, isBeginning, isNegated, shown: cut(shown) }, end: after }
}

function readWord(text: string, from: number): { value: string; end: number } {
  const end = wordEnd(text, from)
  return { value: text.slice(from, end), end }
}

/** `start`: that of the part, for the error. */
function readQuoted(text: string, from: number, start: number): { value: string; end: number } {
  let value = ''
  for (let at = from; at < text.length; at++) {
    if (isQuote(text[at])) return { value, end: at + 1 }
    if (text[at] === '\\' && (text[at + 1] === '"' || text[at + 1] === '\\')) at++
    value += text[at]
  }
  throw wrongAs(text.slice(start))('unclosed')
}

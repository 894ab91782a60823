import { DELIVERY_STATES, type DeliveryState } from '../../delivery/queue/states.ts'
import { addressKey, parseDomain } from '../../mime/address.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { readIsoTime } from '../../platform/iso-time.ts'
import { parseMessageId } from '../../submission/message-id.ts'
import type { EntryPoint } from '../../submission/submission.ts'

/** The conditions of a search for deliveries, all of which must apply. */
export interface MessageSearch {
  readonly states?: readonly DeliveryState[]
  /** The recipient's address in canonical lower-case form. */
  readonly recipientKey?: string
  /** Lower-case A-labels, as in `domain`. */
  readonly recipientDomain?: string
  /** The sender's address in lower case. */
  readonly from?: string
  /** The domain of the sender's address. */
  readonly domain?: string
  readonly subject?: SubjectTerm
  readonly tag?: string
  /** A UUID; empty if the given id cannot be one, so that nothing matches. */
  readonly messageId?: string
  readonly door?: EntryPoint
  readonly hasAttachment?: true
  /** Accepted at this time or later. */
  readonly since?: Date
  /** Accepted before this time. */
  readonly until?: Date
}

/** A subject, compared without regard to case: the whole of it, or its beginning. */
export interface SubjectTerm {
  readonly text: string
  readonly isPrefix: boolean
}

/** The keys of the search language, and the parameters of the same names. */
export const SEARCH_KEYS = [
  'to',
  'from',
  'state',
  'subject',
  'tag',
  'id',
  'domain',
  'door',
  'before',
  'after',
  'has',
] as const
export type SearchKey = (typeof SEARCH_KEYS)[number]

/** Groups of states that have a name of their own. */
export const STATE_GROUPS: Readonly<Record<'waiting' | 'failed', readonly DeliveryState[]>> = {
  waiting: ['scheduled', 'queued', 'sending', 'deferred'],
  failed: ['bounced', 'dropped', 'expired'],
}
const STATES = Object.keys(DELIVERY_STATES) as DeliveryState[]
const ENTRY_POINTS: readonly EntryPoint[] = ['v2', 'v3', 'smtp']

/** Characters of a search, and of one value: a subject has at most 998 in all. */
const MAX_SEARCH_LENGTH = 2000
const MAX_VALUE_LENGTH = 1000

/** A part of a search as it was written. */
interface Term {
  readonly key: SearchKey
  readonly value: string
  /** How errors name it. */
  readonly shown: string
  readonly isPrefix: boolean
}

/**
 * Reads a search: parts `key:value`, separated by blanks. A value with blanks is in quotes, in which `\"` is a quote and `\\` a backslash;
 * `subject:"Your inv"*` and `subject:Inv*` ask for a beginning. A part without a key is an address, or the id of a message. A pure function
 * in linear time.
 *
 * Throws parameterInvalid (`search`), whose text names the part that is wrong.
 */
export function parseSearch(text: string): MessageSearch {
  if (text.length > MAX_SEARCH_LENGTH) throw invalid(`must have at most ${MAX_SEARCH_LENGTH} characters`)
  let search: MessageSearch = {}
  for (let at = skipBlanks(text, 0); at < text.length; ) {
    const { term, end } = readTerm(text, at)
    search = withTerm(search, term, 'search')
    at = skipBlanks(text, end)
  }
  return search
}

/**
 * Adds what a parameter of its own asks for: the values of the search language, without quotes.
 *
 * Throws parameterInvalid (`key`), also if the search has such a part already.
 */
export function addToSearch(search: MessageSearch, key: SearchKey, value: string, isPrefix = false): MessageSearch {
  if (value.length > MAX_VALUE_LENGTH) throw invalidParameter(key, `must have at most ${MAX_VALUE_LENGTH} characters`)
  return withTerm(search, { key, value, isPrefix, shown: '' }, key)
}

function invalid(problem: string): Error {
  return invalidParameter('search', problem)
}

function isBlank(char: string | undefined): boolean {
  return char === ' ' || char === '\t' || char === '\n' || char === '\r'
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && isBlank(text[at])) at++
  return at
}

function readTerm(text: string, start: number): { term: Term; end: number } {
  let at = start
  while (at < text.length && !isBlank(text[at]) && text[at] !== ':' && text[at] !== '"') at++
  const word = text.slice(start, at)
  if (text[at] !== ':') {
    if (text[at] === '"') throw invalid(`${cut(text.slice(start))} has no key; use for instance subject:"…"`)
    return { term: bareTerm(word), end: at }
  }
  const key = SEARCH_KEYS.find((one) => one === word.toLowerCase())
  if (!key) throw invalid(`${cut(`${word}:`)} is not a key; use ${SEARCH_KEYS.join(', ')}`)
  const isQuoted = text[at + 1] === '"'
  const { value, end } = isQuoted ? readQuoted(text, at + 2, start) : readWord(text, at + 1)
  const hasStar = isQuoted ? text[end] === '*' : key === 'subject' && value.endsWith('*')
  const after = isQuoted && hasStar ? end + 1 : end
  const shown = text.slice(start, after)
  if (isQuoted && after < text.length && !isBlank(text[after])) {
    throw invalid(`${cut(text.slice(start, after + 1))}: a blank must follow the quote`)
  }
  if (isQuoted && hasStar && key !== 'subject') throw invalid(`${cut(shown)}: only subject takes a beginning`)
  const given = !isQuoted && hasStar ? value.slice(0, -1) : value
  if (given === '') throw invalid(`${cut(shown)} has no value`)
  return { term: { key, value: given, isPrefix: hasStar, shown: cut(shown) }, end: after }
}

function bareTerm(word: string): Term {
  if (word.includes('@')) return { key: 'to', value: word, shown: cut(word), isPrefix: false }
  if (parseMessageId(word) !== undefined) return { key: 'id', value: word, shown: cut(word), isPrefix: false }
  throw invalid(
    `${cut(word)} has no key and is neither an address nor a message id; use for instance subject:${cut(word)}`,
  )
}

function readWord(text: string, from: number): { value: string; end: number } {
  let end = from
  while (end < text.length && !isBlank(text[end])) end++
  return { value: text.slice(from, end), end }
}

/** `start`: that of the part, for the error. */
function readQuoted(text: string, from: number, start: number): { value: string; end: number } {
  let value = ''
  for (let at = from; at < text.length; at++) {
    if (text[at] === '"') return { value, end: at + 1 }
    if (text[at] === '\\' && (text[at + 1] === '"' || text[at + 1] === '\\')) at++
    value += text[at]
  }
  throw invalid(`${cut(text.slice(start))}: the closing quote is missing`)
}

/** A part of the search in an error: not all of a long one. */
function cut(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

function withTerm(search: MessageSearch, term: Term, parameter: string): MessageSearch {
  const wrong = (problem: string) =>
    invalidParameter(parameter, term.shown === '' ? problem : `${term.shown}: ${problem}`)
  // Texts in the database never contain NUL.
  if (term.value.includes('\0')) throw wrong('must not contain NUL')
  const added = meaningOf(term, wrong)
  const twice = Object.keys(added).some((name) => search[name as keyof MessageSearch] !== undefined)
  if (twice) throw wrong(`the search has more than one condition of this kind; use one`)
  return { ...search, ...added }
}

type Wrong = (problem: string) => Error

function meaningOf({ key, value, isPrefix }: Term, wrong: Wrong): MessageSearch {
  switch (key) {
    case 'to':
      return value.startsWith('@')
        ? { recipientDomain: domainOf(value.slice(1), wrong) }
        : { recipientKey: addressKey(value) }
    case 'from':
      return value.startsWith('@') ? { domain: domainOf(value.slice(1), wrong) } : { from: addressKey(value) }
    case 'domain':
      return { domain: domainOf(value, wrong) }
    case 'state':
      return { states: statesOf(value, wrong) }
    case 'subject':
      return { subject: { text: value, isPrefix } }
    case 'tag':
      return { tag: value }
    case 'id':
      return { messageId: parseMessageId(value.trim()) ?? '' }
    case 'door':
      return { door: oneOf(value, ENTRY_POINTS, wrong) }
    case 'has':
      oneOf(value, ['attachment'] as const, wrong)
      return { hasAttachment: true }
    case 'before':
      return { until: timeOf(value, wrong) }
    case 'after':
      return { since: timeOf(value, wrong) }
  }
}

function domainOf(value: string, wrong: Wrong): string {
  const domain = parseDomain(value)
  if (domain === undefined) throw wrong('must be a domain name')
  return domain
}

function statesOf(value: string, wrong: Wrong): readonly DeliveryState[] {
  const words = value.toLowerCase().split(',', 20)
  const states = words.flatMap((word) => {
    if (Object.hasOwn(STATE_GROUPS, word)) return STATE_GROUPS[word as keyof typeof STATE_GROUPS]
    const state = STATES.find((one) => one === word)
    if (!state) throw wrong(`must be one or several of ${[...STATES, ...Object.keys(STATE_GROUPS)].join(', ')}`)
    return [state]
  })
  return [...new Set(states)]
}

function oneOf<T extends string>(value: string, allowed: readonly T[], wrong: Wrong): T {
  const found = allowed.find((one) => one === value.toLowerCase())
  if (!found) throw wrong(`must be ${allowed.join(' or ')}`)
  return found
}

/** A day, which begins at midnight UTC, or a time in ISO 8601; without a zone it is UTC. */
function timeOf(value: string, wrong: Wrong): Date {
  const time = readIsoTime(value.trim())
  // Ids of messages have no others.
  if (!time || time.getUTCFullYear() < 1970 || time.getUTCFullYear() > 9999) {
    throw wrong('must be a day or a time in ISO 8601, such as 2026-01-31 or 2026-01-31T12:00Z')
  }
  return time
}

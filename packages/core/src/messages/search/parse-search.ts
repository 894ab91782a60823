import { DELIVERY_STATES, type DeliveryState } from '../../delivery/queue/states.ts'
import { addressKey, parseAddress, parseDomain } from '../../mime/address.ts'
import { parseMessageId } from '../../submission/message-id.ts'
import type { EntryPoint } from '../../submission/submission.ts'
import { fold } from './fold.ts'
import { MET, type MessageSearch, type Names, type SearchKey, STATE_GROUPS, type WordTerm } from './search.ts'
import { SearchError, type Wrong } from './search-error.ts'
import { readTerms, type Term } from './terms.ts'
import { readSearchTime, type SearchClock } from './times.ts'

const STATES = Object.keys(DELIVERY_STATES) as DeliveryState[]
const ENTRY_POINTS: readonly EntryPoint[] = ['v2', 'v3', 'smtp']
const MAX_VALUE_LENGTH = 1000

/** Reads a search (terms.ts). Throws SearchError (`search`), whose text names the part that is wrong. */
export function parseSearch(text: string, clock: Partial<SearchClock> = {}): MessageSearch {
  return readTerms(text).reduce((search, term) => withTerm(search, term, 'search', clock), {} as MessageSearch)
}

/**
 * Adds what a parameter of its own asks for: the values of the search language, without quotes.
 *
 * Throws SearchError (`key`), also if the search has such a part already.
 */
export function addToSearch(
  search: MessageSearch,
  key: SearchKey,
  value: string,
  clock: Partial<SearchClock> = {},
): MessageSearch {
  requireLength(key, value)
  const isBeginning = value.endsWith('*') && value.length > 1
  const given = isBeginning ? value.slice(0, -1) : value
  const term = { key, value: given, isQuoted: false, isBeginning, isNegated: false, shown: '' }
  return withTerm(search, term, key, clock)
}

/** Adds the beginning of a subject, in any case. Throws SearchError (`parameter`). */
export function addSubjectBeginning(search: MessageSearch, parameter: string, text: string): MessageSearch {
  requireLength(parameter, text)
  if (text.includes('\0')) throw new SearchError(parameter, { name: 'nul', part: '', allowed: '' })
  return { ...search, subjectBegins: text }
}

function requireLength(parameter: string, value: string): void {
  if (value.length <= MAX_VALUE_LENGTH) return
  throw new SearchError(parameter, { name: 'tooLong', part: '', allowed: String(MAX_VALUE_LENGTH) })
}

function withTerm(
  search: MessageSearch,
  term: Term,
  parameter: string,
  { now = new Date(), timeZone = 'UTC' }: Partial<SearchClock>,
): MessageSearch {
  const wrong: Wrong = (name, allowed = '') => new SearchError(parameter, { name, part: term.shown, allowed })
  // Texts in the database never contain NUL.
  if (term.value.includes('\0')) throw wrong('nul')
  const added = meaningOf(term, wrong, { now, timeZone })
  if (term.isNegated) {
    if (term.key === 'before' || term.key === 'after') throw wrong('notNegated')
    return { ...search, not: [...(search.not ?? []), added] }
  }
  const words = [...(search.words ?? []), ...(added.words ?? [])]
  const twice = Object.keys(added).some((name) => name !== 'words' && search[name as keyof MessageSearch] !== undefined)
  if (twice) throw wrong('twice')
  return { ...search, ...added, ...(words.length > 0 ? { words } : {}) }
}

function meaningOf(term: Term, wrong: Wrong, clock: SearchClock): MessageSearch {
  const { key, value, isBeginning } = term
  switch (key) {
    case undefined:
      return { words: [wordsIn('any', term, wrong, namesOf(term))] }
    case 'to': {
      const domain = isBeginning || !value.startsWith('@') ? undefined : parseDomain(value.slice(1))
      if (domain !== undefined) return { recipientDomain: domain }
      if (isWholeAddress(term)) return { recipientKey: addressKey(value) }
      return { words: [wordsIn('to', term, wrong)] }
    }
    case 'from': {
      const domain = isBeginning || !value.startsWith('@') ? undefined : parseDomain(value.slice(1))
      if (domain !== undefined) return { domain }
      if (isWholeAddress(term)) return { from: addressKey(value) }
      return { words: [wordsIn('from', term, wrong)] }
    }
    case 'subject':
    case 'tag':
      return { words: [wordsIn(key, term, wrong)] }
    case 'ref':
      return { words: [wordsIn('reference', term, wrong)] }
    default:
      if (isBeginning) throw wrong('noBeginning')
      return exactMeaning(key, value.trim(), wrong, clock)
  }
}

/** "lena@harb" is the beginning of one: no mail goes to a domain without a dot. */
function isWholeAddress({ value, isBeginning }: Term): boolean {
  return !isBeginning && parseAddress(value)?.domain.includes('.') === true
}

function exactMeaning(
  key: 'id' | 'domain' | 'state' | 'door' | 'has' | 'before' | 'after',
  value: string,
  wrong: Wrong,
  clock: SearchClock,
): MessageSearch {
  switch (key) {
    case 'id':
      return idMeaning(value)
    case 'domain': {
      const domain = parseDomain(value)
      if (domain === undefined) throw wrong('notDomain')
      return { domain }
    }
    case 'state':
      return statesOf(value, wrong)
    case 'door':
      return { door: oneOf(value, ENTRY_POINTS, wrong) }
    case 'has':
      oneOf(value, ['attachment'] as const, wrong)
      return { hasAttachment: true }
    case 'before':
      return { until: timeOf(value, wrong, clock) }
    case 'after':
      return { since: timeOf(value, wrong, clock) }
  }
}

function wordsIn(field: WordTerm['field'], term: Term, wrong: Wrong, names?: Names): WordTerm {
  const text = fold(term.value)
  if (text === '') throw wrong('noWord')
  const isWhole = term.isQuoted && !term.isBeginning
  const isHeader = field === 'any' && !term.isBeginning && term.value.includes('@') && text.includes(' ')
  const isNaming = names !== undefined && Object.keys(names).length > 0
  return { field, text, isWhole, ...(isHeader ? { isHeader } : {}), ...(isNaming ? { names } : {}) }
}

/** A Message-ID of this service is the message's id, the number of the envelope if it was composed, and the sender's domain. */
const OWN_HEADER = /^<?([0-9a-f]{32})(?:\.\d{1,6})?@[^@<>\s]+>?$/i
const TRANSACTION = /^\d{15,18}$/

function namesOf(term: Term): Names {
  const { value, isBeginning } = term
  if (isBeginning) return {}
  const messageId = parseMessageId(OWN_HEADER.exec(value)?.[1] ?? value)
  return {
    ...(isWholeAddress(term) ? { recipientKey: addressKey(value) } : {}),
    ...(messageId === undefined ? {} : { messageId }),
    ...(TRANSACTION.test(value) ? { transactionNumber: value } : {}),
  }
}

/** The id of a message, a TRANSID, or a Message-ID. */
function idMeaning(value: string): MessageSearch {
  const messageId = parseMessageId(OWN_HEADER.exec(value)?.[1] ?? value)
  if (messageId !== undefined) return { messageId }
  if (TRANSACTION.test(value)) {
    return { words: [{ field: 'header', text: value, isWhole: true, names: { transactionNumber: value } }] }
  }
  const text = fold(value)
  return value.includes('@') && text !== '' ? { words: [{ field: 'header', text, isWhole: true }] } : { messageId: '' }
}

const GROUPS = Object.keys(STATE_GROUPS)

function statesOf(value: string, wrong: Wrong): MessageSearch {
  const words = value.toLowerCase().split(',', 20)
  const known: readonly string[] = [...STATES, ...MET, ...GROUPS]
  for (const word of words) if (!known.includes(word)) throw wrong('notState', known.join(', '))
  const states = words.flatMap((word) =>
    Object.hasOwn(STATE_GROUPS, word)
      ? STATE_GROUPS[word as keyof typeof STATE_GROUPS]
      : STATES.filter((one) => one === word),
  )
  const met = MET.filter((one) => words.includes(one))
  return { states: [...new Set(states)], ...(met.length > 0 ? { met } : {}) }
}

function oneOf<T extends string>(value: string, allowed: readonly T[], wrong: Wrong): T {
  const found = allowed.find((one) => one === value.toLowerCase())
  if (!found) throw wrong('notOneOf', allowed.join(' or '))
  return found
}

function timeOf(value: string, wrong: Wrong, clock: SearchClock): Date {
  const time = readSearchTime(value, clock)
  if (!time) throw wrong('notTime')
  return time
}

import { readSearchTime, resembles, type SearchClock } from '@postrider/core'
import { type Mailbox, type Row, recipientsOf } from '../inbox-entry.ts'
import type { Digest } from '../reading/digest.ts'

/** A message as a search sees it. Without its digest, what its body says is unknown. */
export interface Candidate extends Row {
  readonly digest: Digest | undefined
  readonly isRead: boolean
  readonly tags: readonly string[]
}

/** Returns the texts of a field in lower case. */
type TextsOf = (field: string) => readonly string[]

/** Returns undefined if that is not known yet. */
type Test = (candidate: Candidate, textsOf: TextsOf) => boolean | undefined

interface Term {
  readonly test: Test
  readonly isNegated: boolean
}

/** A search of the inbox; all of its terms must match. */
export type Search = readonly Term[]

/** A term that means nothing. */
export class BadTerm extends Error {
  readonly term: string

  constructor(term: string, expected: string) {
    super(`"${term.slice(0, 60)}": ${expected}`)
    this.term = term.slice(0, 60)
  }
}

const MAX_QUERY = 200
const MAX_TERMS = 20
const SIZE = /^(\d{1,9}(?:\.\d{1,3})?)(b|kb?|mb?)?$/
const UNITS: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 * 1024 }

/** Fields that compare texts. */
const TEXTS: Readonly<Record<string, (candidate: Candidate) => readonly string[]>> = {
  from: ({ entries }) => [...entries.map(({ from }) => from), ...texts([entries[0].head.from])],
  to: (candidate) => [...candidate.entries.map(({ to }) => to), ...texts(recipientsOf(candidate).to)],
  cc: (candidate) => texts(recipientsOf(candidate).cc),
  bcc: (candidate) => texts(recipientsOf(candidate).bcc),
  'reply-to': ({ entries }) => texts(entries[0].head.replyTo),
  addressed: (candidate) => ['from', 'to', 'cc', 'reply-to'].flatMap((name) => TEXTS[name]?.(candidate) ?? []),
  subject: ({ entries }) => entries.map(({ subject }) => subject),
  'message-id': ({ entries }) => [entries[0].head.messageId],
}

/** Values of `is:` and `has:`. */
const STATES: Readonly<Record<string, Test>> = {
  'is:read': ({ isRead }) => isRead,
  'is:unread': ({ isRead }) => !isRead,
  'is:tagged': ({ tags }) => tags.length > 0,
  'has:attachment': ({ digest }) => digest && digest.attachments > 0,
  'has:inline': ({ digest }) => digest && digest.inline > 0,
  'has:html': ({ digest }) => digest?.hasHtml,
}

/** Names of all fields. */
const SEARCH_FIELDS = [...Object.keys(TEXTS), 'tag', 'is', 'has', 'larger', 'smaller', 'before', 'after']

/**
 * Reads a search such as `from:acme subject:"your order" -is:read has:attachment after:2d mug`, as Mailpit has it. A word without a field is found in the
 * subject, the addresses and the beginning of the text; `-` or `!` excludes. Throws {@link BadTerm}.
 */
export function readSearch(query: string, clock: SearchClock): Search {
  if (query.length > MAX_QUERY) throw new BadTerm(query, `a search has at most ${MAX_QUERY} characters`)
  const words = wordsOf(query)
  if (words.length === 0 && query.trim() !== '') throw new BadTerm(query, 'a search needs a word')
  if (words.length > MAX_TERMS) throw new BadTerm(query, `a search has at most ${MAX_TERMS} words`)
  return words.map((word) => termOf(word, clock))
}

/** Reads a search for one field: of the whole value, with its quotes and blanks. Throws {@link BadTerm}. */
export function readField(field: keyof typeof TEXTS, value: string, clock: SearchClock): Search {
  if (value.length > MAX_QUERY) throw new BadTerm(value, `a search has at most ${MAX_QUERY} characters`)
  return [termOf(`${field}:${value}`, clock)]
}

/** Whether a message matches; undefined: not known until its digest is read. */
export function matches(search: Search, candidate: Candidate): boolean | undefined {
  let isKnown = true
  const textsOf = textsOnce(candidate)
  for (const { test, isNegated } of search) {
    const result = test(candidate, textsOf)
    if (result === isNegated) return false
    isKnown &&= result !== undefined
  }
  return isKnown ? true : undefined
}

/** A message of strangers may have thousands of addresses: they are collected once for all terms. */
function textsOnce(candidate: Candidate): TextsOf {
  const made = new Map<string, readonly string[]>()
  return (field) => {
    const texts = made.get(field) ?? (TEXTS[field]?.(candidate) ?? []).map((one) => one.toLowerCase())
    made.set(field, texts)
    return texts
  }
}

/** Splits at blanks outside of quotes, and removes the quotes. */
function wordsOf(query: string): string[] {
  const words: string[] = []
  let word = ''
  let isQuoted = false
  for (const sign of `${query} `) {
    if (sign === '"') isQuoted = !isQuoted
    else if (isQuoted || sign.trim() !== '') word += sign
    else if (word !== '') {
      words.push(word)
      word = ''
    }
  }
  // A quote that is not closed goes to the end.
  return word.trim() === '' ? words : [...words, word.trim()]
}

function termOf(word: string, clock: SearchClock): Term {
  const isNegated = word.length > 1 && (word.startsWith('-') || word.startsWith('!'))
  const text = (isNegated ? word.slice(1) : word).toLowerCase()
  const colon = text.indexOf(':')
  const field = text.slice(0, Math.max(0, colon))
  // It would exclude nothing.
  const meant = isNegated && !SEARCH_FIELDS.includes(field) && SEARCH_FIELDS.find((name) => resembles(field, name))
  if (meant) throw new BadTerm(text, `did you mean ${meant}:?`)
  return { isNegated, test: testOf(field, text.slice(colon + 1).trim(), text, clock) }
}

function testOf(field: string, value: string, text: string, clock: SearchClock): Test {
  const isField = SEARCH_FIELDS.includes(field)
  if (!isField) return anywhere(text)
  if (value === '') throw new BadTerm(text, 'a value is missing')
  // Mailpit's own ids of messages have no brackets.
  const wanted = field === 'message-id' ? value.replace(/^<|>$/g, '') : value
  if (Object.hasOwn(TEXTS, field)) return (_, textsOf) => within(textsOf(field), wanted)
  if (field === 'tag') return ({ tags }) => tags.some((tag) => tag.toLowerCase() === value)
  if (field === 'larger' || field === 'smaller') return sizeTest(field, value, text)
  if (field === 'before' || field === 'after') return timeTest(field, value, { text, clock })
  const state = text.replace(/s$/, '')
  if (Object.hasOwn(STATES, state)) return STATES[state] as Test
  const allowed = Object.keys(STATES).filter((name) => name.startsWith(`${field}:`))
  throw new BadTerm(text, `use ${allowed.join(', ')}`)
}

function anywhere(text: string): Test {
  return ({ digest }, textsOf) =>
    within(textsOf('subject'), text) || within(textsOf('addressed'), text) || digest?.text.includes(text)
}

function sizeTest(field: 'larger' | 'smaller', value: string, text: string): Test {
  const [, number, unit = 'b'] = SIZE.exec(value) ?? []
  if (number === undefined) throw new BadTerm(text, 'use a size such as 20kB or 1.5MB')
  const limit = Number(number) * (UNITS[unit.charAt(0)] ?? 1)
  return ({ entries: [{ size }] }) => (field === 'larger' ? size > limit : size < limit)
}

function timeTest(
  field: 'before' | 'after',
  value: string,
  { text, clock }: { readonly text: string; readonly clock: SearchClock },
): Test {
  const time = readSearchTime(value.toUpperCase().replaceAll('/', '-'), clock)?.getTime()
  if (time === undefined)
    throw new BadTerm(text, 'use a time such as 2026-11-30, 2026-11-30T14:00Z, 2h, 3d or yesterday')
  return ({ entries: [{ receivedAt }] }) =>
    field === 'before' ? Date.parse(receivedAt) <= time : Date.parse(receivedAt) >= time
}

function texts(mailboxes: readonly (Mailbox | undefined)[]): readonly string[] {
  return mailboxes.flatMap((one) => (one ? [one.name, one.address] : []))
}

function within(all: readonly string[], text: string): boolean {
  return all.some((one) => one.includes(text))
}

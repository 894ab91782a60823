import { domainToUnicode } from 'node:url'
import { fold } from './fold.ts'
import { WORD_FIELDS, type WordField, type WordTerm } from './search.ts'

/** The texts of a delivery that words are looked for in. */
export interface DeliveryTexts {
  readonly recipient: string
  /** The recipient's display name. */
  readonly name: string | null
  readonly subject: string
  readonly tags: readonly string[]
  /** The sender's own id, and the values of its own data. */
  readonly reference: string | null
  readonly from: string
  /** The client's own Message-ID. */
  readonly header: string | null
}

/** The folded texts, in the order of {@link WORD_FIELDS}. */
export type Entry = readonly string[]

const AT: Readonly<Record<WordField, number>> = { to: 0, subject: 1, tag: 2, reference: 3, from: 4, header: 5 }
/** Those of a term without a key. */
export const ANY_FIELDS: readonly WordField[] = ['to', 'subject', 'tag', 'reference']
/** A character that no folded text has. */
const SEPARATOR = '\x01'
/** Fewer letters are in so many addresses that a filter says nothing. */
const MIN_PART = 5

export function entryOf(texts: DeliveryTexts): Entry {
  const { recipient, name, subject, tags, reference, from, header } = texts
  const address =
    recipient.includes('@xn--') || recipient.includes('.xn--') ? `${recipient} ${unicodeOf(recipient)}` : recipient
  const to = name === null || name === '' ? fold(address) : `${fold(address)} ${fold(name)}`
  return [to, fold(subject), fold(tags.join(' ')), fold(reference ?? ''), fold(from), fold(header ?? '')]
}

function unicodeOf(address: string): string {
  return domainToUnicode(address.slice(address.lastIndexOf('@') + 1))
}

export function formatEntry(entry: Entry): string {
  return entry.join(SEPARATOR)
}

export function parseEntry(text: string): Entry {
  return text.split(SEPARATOR)
}

/** Whether the term is in a delivery's texts. */
export function hasTerm(entry: Entry, { field, text, isWhole, isHeader }: WordTerm): boolean {
  const of = (one: WordField): string => entry[AT[one]] ?? ''
  if (field === 'header') return of('header') === text
  if (field !== 'any') return isIn(of(field), text, isWhole, field === 'to')
  return (
    ANY_FIELDS.some((one) => isIn(of(one), text, isWhole, one === 'to')) || (isHeader === true && of('header') === text)
  )
}

function isIn(words: string, text: string, isWhole: boolean, isRecipient: boolean): boolean {
  if (isWhole) return ` ${words} `.includes(` ${text} `)
  // "smith" is in jsmith@reader.example, too.
  if (isRecipient && isPart(text)) return words.includes(text)
  return words.startsWith(text) || words.includes(` ${text}`)
}

/** Whether a term is looked for within words of recipients. */
export function isPart(text: string): boolean {
  return text.length >= MIN_PART && !text.includes(' ')
}

export function hasAll(entry: Entry, { words = [], not = [] }: Terms): boolean {
  return (
    words.every((term) => hasTerm(entry, term)) && !not.some((one) => one.words?.some((term) => hasTerm(entry, term)))
  )
}

/** The terms of a search. */
export interface Terms {
  readonly words?: readonly WordTerm[]
  readonly not?: readonly { readonly words?: readonly WordTerm[] }[]
}

export function hasWords({ words, not = [] }: Terms): boolean {
  return words !== undefined || not.some((one) => one.words !== undefined)
}

/** Of each field, the words. */
export function* wordsOf(entry: Entry): Generator<{ readonly field: WordField; readonly words: readonly string[] }> {
  for (const field of WORD_FIELDS) {
    const text = entry[AT[field]] ?? ''
    if (text !== '') yield { field, words: field === 'header' ? [text] : text.split(' ') }
  }
}

import type { InboxEntry } from '../inbox-entry.ts'
import type { Digest } from '../reading/digest.ts'

const FIELDS = ['from', 'to', 'subject', 'has'] as const
type Field = (typeof FIELDS)[number]

interface Term {
  /** If absent, any field. */
  readonly field: Field | undefined
  /** In lower case. */
  readonly text: string
}

/** A search of the inbox; all of its terms must match. */
export type Search = readonly Term[]

const MAX_QUERY = 200
const MAX_TERMS = 20

/**
 * Reads a search such as `from:acme subject:"your order" has:attachment mug`. A word without a field is found in the subject, the addresses and the
 * beginning of the text. Characters and terms beyond 200 and 20 are ignored.
 */
export function readSearch(query: string): Search {
  const terms: Term[] = []
  let word = ''
  let isQuoted = false
  const end = () => {
    if (word !== '' && terms.length < MAX_TERMS) terms.push(termOf(word))
    word = ''
  }
  for (const sign of query.slice(0, MAX_QUERY).toLowerCase()) {
    if (sign === '"') isQuoted = !isQuoted
    else if (!isQuoted && sign.trim() === '') end()
    else word += sign
  }
  end()
  return terms
}

function termOf(word: string): Term {
  const colon = word.indexOf(':')
  const field = FIELDS.find((name) => name === word.slice(0, colon))
  return field && colon > 0 ? { field, text: word.slice(colon + 1) } : { field: undefined, text: word }
}

/** Whether a message matches. Without its digest, its text and its attachments match nothing. */
export function matches(search: Search, entry: InboxEntry, digest: Digest | undefined): boolean {
  const { from, to, subject } = entry
  const sender = digest?.sender ?? ''
  const within = (texts: readonly string[], text: string) => texts.some((one) => one.toLowerCase().includes(text))
  return search.every(({ field, text }) => {
    if (field === 'from') return within([from, sender], text)
    if (field === 'to') return within([to], text)
    if (field === 'subject') return within([subject], text)
    if (field === 'has') return text.startsWith('attach') && (digest?.attachments ?? 0) > 0
    return within([subject, to, from, sender, digest?.preview ?? ''], text)
  })
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import { corrected, vocabularyOf } from './typos.ts'

/** A part of a page that search finds: the text between two headings, or an operation. */
export interface Section {
  readonly path: string
  /** Title of the page. */
  readonly title: string
  /** Heading of the part; equal to the title at the start of the page. */
  readonly heading: string
  readonly text: string
  /** Names of parameters and fields. */
  readonly names: readonly string[]
}

export interface Hit {
  readonly path: string
  readonly title: string
  readonly heading: string
  /** The part of the text around the first word found, in pieces; those that were searched for are marked. */
  readonly snippet: readonly { readonly text: string; readonly marked: boolean }[]
}

export interface Found {
  readonly hits: readonly Hit[]
  /** Number of sections found, including those that are not listed. */
  readonly total: number
  /** The query after correction of words that occur nowhere; undefined if all of them occur. */
  readonly meant?: string | undefined
}

/** Longest query that is read, in characters; the rest is ignored. */
export const MAX_QUERY = 100
const MAX_WORDS = 6
const MAX_HITS = 20
const MAX_HITS_PER_PAGE = 3
const SNIPPET = 200

interface Entry extends Section {
  readonly low: { readonly title: string; readonly heading: string; readonly text: string; readonly names: string }
}

/** Prepares the sections for search. Gives way to other work between them. */
export async function createSearch(sections: readonly Section[]): Promise<(query: string) => Found> {
  const entries: Entry[] = []
  for (const section of sections) {
    const { title, heading, text, names } = section
    entries.push({
      ...section,
      low: {
        title: title.toLowerCase(),
        heading: heading === title ? '' : heading.toLowerCase(),
        text: text.toLowerCase(),
        names: ` ${names.join(' ').toLowerCase()} `,
      },
    })
    if (entries.length % 100 === 0) await nextTurn()
  }
  let known: ReadonlyMap<string, number> | undefined
  return (query) => {
    const found = find(entries, query)
    if (found.total > 0 || query.trim() === '') return found
    known ??= vocabularyOf(entries.map(({ low }) => `${low.title} ${low.heading} ${low.names} ${low.text}`))
    const meant = corrected(query.slice(0, MAX_QUERY), known)
    return meant === undefined ? found : { ...find(entries, meant), meant }
  }
}

/** Every word must occur. It takes about as long as reading the text once for each of at most six words. */
function find(entries: readonly Entry[], query: string): Found {
  const words = [...new Set(query.slice(0, MAX_QUERY).toLowerCase().split(/\s/))].filter((word) => word !== '')
  const searched = words.slice(0, MAX_WORDS)
  if (searched.length === 0) return { hits: [], total: 0 }
  const scored = entries
    .map((entry) => ({ entry, score: scoreOf(entry, searched) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
  const ofPage = new Map<string, number>()
  const hits: Hit[] = []
  for (const { entry } of scored) {
    if (hits.length === MAX_HITS) break
    const times = (ofPage.get(entry.title) ?? 0) + 1
    ofPage.set(entry.title, times)
    if (times <= MAX_HITS_PER_PAGE) hits.push(hitOf(entry, searched))
  }
  return { hits, total: scored.length }
}

function scoreOf({ low }: Entry, words: readonly string[]): number {
  let score = 0
  for (const word of words) {
    const inTitle = low.title.includes(word) ? (low.title.startsWith(word) ? 40 : 25) : 0
    const inHeading = low.heading.includes(word) ? 15 : 0
    const inNames = low.names.includes(` ${word} `) ? 20 : low.names.includes(word) ? 8 : 0
    const inText = Math.min(countOf(low.text, word), 6)
    if (inTitle + inHeading + inNames + inText === 0) return 0
    score += inTitle + inHeading + inNames + inText
  }
  return score
}

/** Counts at most six. */
function countOf(text: string, word: string): number {
  let count = 0
  for (let at = text.indexOf(word); at !== -1 && count < 6; at = text.indexOf(word, at + word.length)) count++
  return count
}

function hitOf({ path, title, heading, text, low }: Entry, words: readonly string[]): Hit {
  const places = words.map((word) => low.text.indexOf(word)).filter((at) => at !== -1)
  const first = places.length === 0 ? 0 : Math.min(...places)
  const space = first <= 60 ? -1 : text.indexOf(' ', first - 60)
  const from = first <= 60 ? 0 : space === -1 || space > first ? first : space + 1
  const part = text.slice(from, from + SNIPPET)
  const pieces = markedPieces(part, words)
  return {
    path,
    title,
    heading,
    snippet: [
      ...(from > 0 ? [{ text: '… ', marked: false }] : []),
      ...pieces,
      ...(from + SNIPPET < text.length ? [{ text: ' …', marked: false }] : []),
    ],
  }
}

function markedPieces(text: string, words: readonly string[]): Hit['snippet'] {
  const low = text.toLowerCase()
  // A text whose lower case has another length cannot be marked by position.
  if (low.length !== text.length) return [{ text, marked: false }]
  const pieces: { text: string; marked: boolean }[] = []
  let at = 0
  while (at < text.length) {
    const next = words
      .map((word) => ({ word, start: low.indexOf(word, at) }))
      .filter(({ start }) => start !== -1)
      .sort((a, b) => a.start - b.start || b.word.length - a.word.length)[0]
    if (!next) break
    if (next.start > at) pieces.push({ text: text.slice(at, next.start), marked: false })
    at = next.start + next.word.length
    pieces.push({ text: text.slice(next.start, at), marked: true })
  }
  if (at < text.length) pieces.push({ text: text.slice(at), marked: false })
  return pieces
}

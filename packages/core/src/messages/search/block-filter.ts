import { type Entry, isPart, wordsOf } from './entry.ts'
import type { WordTerm } from './search.ts'

/**
 * A filter says which words the deliveries of a block may have: a Bloom filter of the beginnings of all words, and of the triples of letters in
 * recipients. It errs only by naming blocks that have none (docs/decisions/0038-search.md).
 */

/** Lengths of the beginnings that are noted. A shorter one is not looked for: it is in nearly every block. */
const LENGTHS: readonly number[] = [3, 4, 5, 6, 7, 8, 10, 12, 16, 20]
const [SHORTEST = 3] = LENGTHS
/** Bits of the filter for each thing noted, and how many of them that sets. */
const BITS = 6
/** A row with its filter must fit on a page. If texts have thousands of words, the filter says less. */
const MAX_BYTES = 4096
/** Kinds of entries, by the first character of the hash: a beginning, one in a sender, three letters, or a whole Message-ID (twice, since it has no parts). */
type Kind = 'p' | 'f' | 't' | 'm' | 'n'

/** FNV-1a, of which each beginning of a text is a step. */
const BASIS = 0x811c9dc5
const PRIME = 0x01000193

function step(hash: number, code: number): number {
  return Math.imul(hash ^ code, PRIME)
}

const KINDS: Readonly<Record<Kind, number>> = {
  p: step(BASIS, 112),
  f: step(BASIS, 102),
  t: step(BASIS, 116),
  m: step(BASIS, 109),
  n: step(BASIS, 110),
}

/** The final mix of MurmurHash3: FNV's last character would only change the lower bits. */
function mixed(hash: number, seed: number): number {
  let mix = hash ^ seed
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b)
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35)
  return (mix ^ (mix >>> 16)) >>> 0
}

/** The two bits of something noted, before they are reduced to the length of a filter. */
function bitsOf(hash: number): readonly [number, number] {
  return [mixed(hash, 0), mixed(hash, 0x9e3779b9)]
}

export function filterOf(entries: readonly Entry[]): Buffer {
  const noted = new Set<number>()
  for (const entry of entries)
    for (const { field, words } of wordsOf(entry))
      for (const word of words) {
        if (field === 'header') for (const hash of headerHashes(word)) noted.add(hash)
        else noteBeginnings(noted, word, field === 'from' ? 'f' : 'p')
        if (field === 'to') noteTriples(noted, word)
      }
  const filter = Buffer.alloc(Math.min(MAX_BYTES, Math.max(8, Math.ceil((noted.size * BITS) / 8))))
  const length = filter.length * 8
  for (const hash of noted) for (const bit of bitsOf(hash)) setBit(filter, bit % length)
  return filter
}

function setBit(filter: Buffer, bit: number): void {
  const at = bit >>> 3
  filter[at] = (filter[at] ?? 0) | (1 << (bit & 7))
}

function noteBeginnings(noted: Set<number>, word: string, kind: Kind): void {
  let hash = KINDS[kind]
  const length = Math.min(word.length, 20)
  for (let at = 0; at < length; at++) {
    hash = step(hash, word.charCodeAt(at))
    // As LENGTHS, in the time of a comparison.
    if (at >= 2 && (at < 8 || at === 9 || at === 11 || at === 15 || at === 19)) noted.add(hash)
  }
}

function noteTriples(noted: Set<number>, word: string): void {
  for (let at = 0; at + 3 <= word.length; at++) noted.add(hashOf('t', word.slice(at, at + 3)))
}

function headerHashes(text: string): number[] {
  return [hashOf('m', text), hashOf('n', text)]
}

function hashOf(kind: Kind, text: string): number {
  let hash = KINDS[kind]
  for (let at = 0; at < text.length; at++) hash = step(hash, text.charCodeAt(at))
  return hash
}

/** Bits that are looked at for a way in which a term can be met. */
const TESTED = 8

/** The conditions of a term on a block. */
export interface TermTest {
  /** A part of the block's texts. */
  readonly text: string
  /** The bits of one of these, all of them. Two of {@link TESTED} bits each. */
  readonly bits: readonly [readonly number[], readonly number[]]
}

/** Returns what a filter says of a term; undefined if nothing. */
export function testOf({ field, text, isWhole, isHeader }: WordTerm): TermTest | undefined {
  const whole = padded(headerHashes(text))
  if (field === 'header') return { text, bits: [whole, whole] }
  const words = text.split(' ')
  const longest = words.reduce((best, word) => (word.length > best.length ? word : best), '')
  if (longest.length < SHORTEST) return undefined
  const beginnings = padded(
    LENGTHS.filter((length) => length <= longest.length)
      .slice(-TESTED / 2)
      .map((length) => hashOf(field === 'from' ? 'f' : 'p', longest.slice(0, length))),
  )
  if (isHeader) return { text: longest, bits: [beginnings, whole] }
  const isWithin = (field === 'any' || field === 'to') && !isWhole && isPart(text)
  return { text: longest, bits: [beginnings, isWithin ? triplesIn(text) : beginnings] }
}

function triplesIn(word: string): number[] {
  const triples = Array.from({ length: word.length - 2 }, (_, at) => word.slice(at, at + 3))
  return padded(triples.map((triple) => hashOf('t', triple)))
}

/** The first bits of as many as possible, and then the second ones; repeated so that there are always as many: the statement is the same for all terms. */
function padded(hashes: readonly number[]): number[] {
  const all = hashes.map((hash) => bitsOf(hash))
  const bits = [...all.map(([first]) => first), ...all.map(([, second]) => second)]
  return Array.from({ length: TESTED }, (_, at) => bits[at % bits.length] ?? 0)
}

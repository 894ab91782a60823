import type { ContentDocument } from './content.ts'
import { isAddedTo, type LoadedMessage } from './load.ts'
import type { Personal } from './personal.ts'
import { type Addressed, documentOf } from './write-delivery.ts'

/** Octets of text, and of what a text may grow to, from which on a letter is written in a thread: some 20 ms of work. */
const MOST_TEXT = 256 * 1024
/** Octets of a message with its files: encoding and putting them together takes 15 ms. */
const MOST_OCTETS = 2 * 1024 * 1024

/**
 * Would writing this letter keep everybody else waiting? Told from lengths alone, so it may say so where it would not.
 * `rendered`: its content, where a template made it.
 */
export function isCostly(message: LoadedMessage, delivery: Addressed, rendered?: ContentDocument): boolean {
  const { format, size, parts } = message
  // Relayed mail that nothing is added to is sent as it is.
  if (format === 'mime') return isAddedTo(message) && size > MOST_TEXT
  if (size > MOST_OCTETS || (parts?.get(0)?.length ?? 0) > MOST_TEXT) return true
  const content = rendered ?? documentOf(message)
  return lengthOf(content) + growthOf(content, delivery.personal as Personal | null) > MOST_TEXT
}

function textsOf({ subject, html = '', text = '', amp = '', alternatives = [] }: ContentDocument): string[] {
  return [subject, html, text, amp, ...alternatives.map((one) => one.text)]
}

function lengthOf(content: ContentDocument): number {
  return textsOf(content).reduce((sum, { length }) => sum + length, 0)
}

/** Characters of the longest unsubscribe link that is written with its words, about. */
const LINK = 512

/** At most so many characters are put in. */
function growthOf(content: ContentDocument, personal: Personal | null): number {
  const counts = countsOf(content)
  const { attributes = {}, substitutions } = personal ?? {}
  const merged = counts.tags * Math.max(longest(attributes), longest(content.defaults ?? {}))
  const links = content.unsubscribeTags ? counts.links * LINK : 0
  if (!substitutions) return merged + links
  // Sections hold sections, to a depth of four.
  const value = longest(substitutions) + longest(content.sections ?? {}) * (content.sections ? 16 : 1)
  return merged + links + (lengthOf(content) / shortest(substitutions)) * value
}

interface Counts {
  readonly tags: number
  readonly links: number
}

const counted = new WeakMap<ContentDocument, Counts>()

function countsOf(content: ContentDocument): Counts {
  let counts = counted.get(content)
  if (!counts) {
    const texts = [...textsOf(content), content.footer?.html ?? '', content.footer?.text ?? '']
    const count = (sign: string): number => texts.reduce((sum, text) => sum + timesIn(text, sign), 0)
    counted.set(content, (counts = { tags: count('[%'), links: count('<%asm_') + count('{{{unsub') }))
  }
  return counts
}

function timesIn(text: string, sign: string): number {
  let times = 0
  for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + sign.length)) times++
  return times
}

function longest(values: Readonly<Record<string, string>>): number {
  let length = 0
  for (const name in values) length = Math.max(length, values[name]?.length ?? 0)
  return length
}

function shortest(values: Readonly<Record<string, string>>): number {
  let length = Number.POSITIVE_INFINITY
  for (const name in values) length = Math.min(length, name.length || length)
  return length
}

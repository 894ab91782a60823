import type { ContentDocument } from './content.ts'
import { isAddedTo, type LoadedMessage } from './load.ts'
import type { RecipientData } from './recipient-data.ts'
import { type Addressed, documentOf } from './write-delivery.ts'

/** Time that building a message takes: up to 5 ms, up to about 20 ms, or up to seconds. */
export type MessageCost = 'little' | 'some' | 'much'

/** Bounds of each cost: characters of text after tags are filled in, and bytes of the message with its attachments. */
const LITTLE = { text: 64 * 1024, octets: 512 * 1024 } as const
const SOME = { text: 256 * 1024, octets: 2 * 1024 * 1024 } as const

/**
 * Returns the cost of building a message. It is an upper bound, because it is estimated from lengths alone. `rendered` is the
 * content if a dynamic template was rendered.
 */
export function costOfMessage(message: LoadedMessage, delivery: Addressed, rendered?: ContentDocument): MessageCost {
  const { format, size, parts } = message
  // Relayed mail without added content is sent unchanged.
  if (format === 'mime') return isAddedTo(message) ? costOf(size, size) : 'little'
  const stored = costOf(parts?.get(0)?.length ?? 0, size)
  if (stored === 'much') return stored
  const content = rendered ?? documentOf(message)
  return costOf(lengthOf(content) + growthOf(content, delivery.personal as RecipientData | null), size)
}

function costOf(text: number, octets: number): MessageCost {
  if (text <= LITTLE.text && octets <= LITTLE.octets) return 'little'
  return text <= SOME.text && octets <= SOME.octets ? 'some' : 'much'
}

/** The text that is generated from HTML costs what the HTML costs. */
function textsOf({
  subject,
  html = '',
  generateText,
  text = '',
  amp = '',
  alternatives = [],
}: ContentDocument): string[] {
  return [subject, html, generateText ? html : text, amp, ...alternatives.map((one) => one.text)]
}

function lengthOf(content: ContentDocument): number {
  return textsOf(content).reduce((sum, { length }) => sum + length, 0)
}

/** Approximate number of characters of the longest unsubscribe link with its label. */
const LINK = 512

/** Returns an upper bound of the characters that are filled in. */
function growthOf(content: ContentDocument, personal: RecipientData | null): number {
  const counts = countsOf(content)
  const { attributes = {}, substitutions } = personal ?? {}
  const merged = counts.tags * Math.max(longest(attributes), longest(content.defaults ?? {}))
  const links = content.unsubscribeTags ? counts.links * LINK : 0
  if (!substitutions) return merged + links
  // Sections contain sections, to a depth of four.
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

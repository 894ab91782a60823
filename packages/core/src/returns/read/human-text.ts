import type { Leaf, Leaves } from '../../mime/read-leaves.ts'
import { isOriginal } from './original.ts'

/** Octets of text that are looked at. */
export const MAX_TEXT = 64 * 1024
const MAX_LINES = 1000
const MAX_LINE_LENGTH = 1000

/** Lines after which a report quotes the returned message. */
const BEGINS_ORIGINAL: readonly RegExp[] = [
  /^[- ]{0,20}(below this line|enclosed|this|included|here|below) (is|was) (a copy of|a copy|the original|the header|the body|the returned)\b/i,
  /^[- ]{0,20}the following (is|are|was) (a copy|the original|the header)\b/i,
  /^ *-{2,} ?(this is a copy|below this line|enclosed is|the (header|body) of|original (?:message|mail)|included is|unsent message|returned message|message (header|follow)|the original|copy of|non-delivered message|attached)/i,
  /^(original|message) (message )?(headers?|follows?)( follows?)?[.:]*$/i,
  /^original message( headers)?:? ?(follows[.:]?)?$/i,
]

/** The text of a report. */
export interface HumanText {
  /** Lines of the report, without those of the returned message. Empty lines are kept, but not several in succession. */
  readonly lines: readonly string[]
  /** With the returned message, if it is quoted. */
  readonly whole: string
}

export function humanText(message: Leaves): HumanText {
  const shown = message.leaves.filter(
    (leaf) => !isOriginal(leaf, message) && (leaf.type === 'text/plain' || leaf.type === 'text/html'),
  )
  const plain = shown.filter(({ type }) => type === 'text/plain')
  let text = ''
  for (const leaf of plain.length > 0 ? plain : shown) {
    if (text.length >= MAX_TEXT) break
    text += `${textOf(leaf, MAX_TEXT - text.length)}\n`
  }
  return divide(text)
}

function textOf(leaf: Leaf, limit: number): string {
  const text = leaf.text(limit)
  return leaf.type === 'text/html' ? withoutTags(text) : text
}

function divide(text: string): HumanText {
  const lines: string[] = []
  let at = 0
  while (at < text.length && lines.length < MAX_LINES) {
    const end = text.indexOf('\n', at)
    const next = end === -1 ? text.length : end + 1
    const line = text.slice(at, Math.min(next, at + MAX_LINE_LENGTH)).trimEnd()
    at = next
    if (BEGINS_ORIGINAL.some((pattern) => pattern.test(line))) break
    if (line !== '' || (lines.at(-1) ?? '') !== '') lines.push(line)
  }
  return { lines, whole: text }
}

const TAG = /<[^<>]*>/g
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['nbsp', ' '],
  ['#39', "'"],
])

function withoutTags(html: string): string {
  return html
    .replace(/<\/?(?:br|p|div|tr|li|h\d)\b[^<>]*>/gi, '\n')
    .replace(TAG, '')
    .replace(/&(lt|gt|amp|quot|nbsp|#39);/g, (_written, name: string) => ENTITIES.get(name) ?? '')
}

import type { HeaderFields } from '../../mime/header-fields.ts'
import { decodeWords } from '../../mime/words.ts'
import { addressIn, addressLine } from './address-in.ts'
import { MAX_RECIPIENTS } from './delivery-status.ts'
import { FOREIGN_FORMATS, type ForeignFormat } from './foreign-formats.ts'
import { MAX_SEARCHED, replyIn, stageIn } from './smtp-reply.ts'
import type { RecipientStatus } from './verdict.ts'

/** A report that was read by one of the formats for people. */
export interface ForeignReport {
  readonly format: string
  readonly statuses: readonly RecipientStatus[]
}

/** Reads a report by the first format that fits; undefined if there is none. */
export function readForeign(fields: HeaderFields, lines: readonly string[]): ForeignReport | undefined {
  const head = ['From', 'Subject'].map((name) => `${name}: ${decodeWords(shortened(fields.get(name.toLowerCase())))}`)
  for (const format of FOREIGN_FORMATS) {
    if (format.when && !head.some((field) => format.when?.test(field))) continue
    const start = lines.findIndex((line) => format.from.test(line))
    if (start === -1) continue
    const statuses = statusesOf(format, sectionOf(format, lines, start))
    if (statuses.length > 0) return { format: format.name, statuses }
  }
  return undefined
}

function shortened(value = ''): string {
  return value.slice(0, 500)
}

function sectionOf({ to }: ForeignFormat, lines: readonly string[], start: number): readonly string[] {
  const end = to ? lines.findIndex((line, at) => at > start && to.test(line)) : -1
  return lines.slice(start, end === -1 ? undefined : end)
}

interface Entry {
  readonly recipient: string
  text: string
  /** Whether the reason has ended. */
  complete: boolean
}

function statusesOf(format: ForeignFormat, section: readonly string[]): RecipientStatus[] {
  const { shared, entries } =
    format.reason === 'before' ? entriesAfterText(format, section) : entriesBeforeText(format, section)
  if (entries.length === 0 && shared.trim() !== '') entries.push({ recipient: '', text: shared, complete: true })
  // Several recipients with one reason: it follows the last one, or is before all of them.
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at] as Entry
    if (entry.text.trim() === '') entry.text = entries[at + 1]?.text ?? shared
  }
  return entries.map(({ recipient, text }) => ({
    recipient,
    action: format.action ?? 'failed',
    status: '',
    text,
    stage: stageIn(text.slice(0, MAX_SEARCHED)) ?? format.stage,
  }))
}

interface Entries {
  /** Text that belongs to no recipient. */
  readonly shared: string
  readonly entries: Entry[]
}

function entriesBeforeText(format: ForeignFormat, [first = '', ...others]: readonly string[]): Entries {
  const entries: Entry[] = []
  let shared = format.reason === 'first-line' ? first : ''
  let indent = -1
  for (const line of format.recipient ? [first, ...others] : others) {
    const found = recipientIn(format, line)
    const last = entries.at(-1)
    const begins = found && (indent === -1 || indent === found.indent) && found.address !== last?.recipient
    if (begins && entries.length < MAX_RECIPIENTS) {
      indent = found.indent
      const isFirstLine = format.reason === 'first-line'
      entries.push({ recipient: found.address, text: isFirstLine ? first : found.rest, complete: isFirstLine })
    } else if (!last) shared = joined(shared, line)
    else if (!last.complete) {
      last.text = joined(last.text, line)
      last.complete = line === '' && replyIn(last.text).code !== 0
    }
  }
  return { shared, entries }
}

function entriesAfterText(format: ForeignFormat, [, ...lines]: readonly string[]): Entries {
  const entries: Entry[] = []
  let text = ''
  for (const line of lines) {
    const found = recipientIn(format, line)
    // The next conversation: what was said before it is about others.
    text = line.startsWith('>>> ') ? line : joined(text, line)
    if (!found || entries.length >= MAX_RECIPIENTS) continue
    entries.push({ recipient: found.address, text, complete: true })
    text = ''
  }
  return { shared: text, entries }
}

function recipientIn(format: ForeignFormat, line: string) {
  if (!format.recipient) return addressLine(line)
  const address = addressIn(format.recipient.exec(line)?.[1] ?? '')
  return address === undefined ? undefined : { address, indent: 0, rest: line }
}

function joined(text: string, line: string): string {
  return text.length > MAX_SEARCHED ? text : `${text} ${line.trim()}`
}

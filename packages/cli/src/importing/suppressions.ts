import { type ImportRow, OPERATOR, parseAddress } from '@postrider/core'
import { type Reading, readEntries, readGroupEntries, type SourceEntry } from './entries.ts'
import { type Move, refuse } from './move.ts'
import { type Kind, tell } from './tally.ts'

/** Entries imported in one transaction, with one entry in the audit log. */
const CHUNK = 10_000
/** Groups an address may be unsubscribed from: existing ones, and some that were deleted. */
const MAX_GROUPS = 1000

/**
 * The lists, in this order. An address on several lists is stored once, with the reason of the first: a spam complaint outweighs an
 * unsubscribe, and that a bounce, whose mailbox may exist again.
 */
const LISTS: readonly (readonly [kind: Kind, path: string, reason: string])[] = [
  ['spam reports', '/v3/suppression/spam_reports', 'abuse'],
  ['unsubscribes', '/v3/suppression/unsubscribes', 'unsubscribe'],
  ['bounces', '/v3/suppression/bounces', 'hardbounce'],
]

/** Imports the suppressions with reason and date, page by page. */
export async function moveSuppressions(move: Move): Promise<void> {
  const { source, bounds } = move
  for (const [kind, path, reason] of LISTS) await moveList(move, kind, reason, readEntries(source, path, bounds))
  await moveList(move, 'group suppressions', 'unsubscribe', readGroupEntries(source, bounds))
}

/** Rows not yet imported, and how many of them Postrider has with another reason. */
interface Chunk {
  rows: ImportRow[]
  differing: number
}

async function moveList(move: Move, kind: Kind, reason: string, reading: Reading): Promise<void> {
  const { tally, progress } = move
  const chunk: Chunk = { rows: [], differing: 0 }
  let read = 0
  for await (const page of reading.pages) {
    const numbered = page.map((entry, at) => ({ ...entry, number: read + at + 1 }))
    await take(move, chunk, { kind, reason, page: numbered.filter((entry) => isValid(move, kind, entry)) })
    if (chunk.rows.length >= CHUNK) await flush(move, kind, chunk)
    read += page.length
    tally.seen.texts += page.filter(({ hasAddress }) => hasAddress).length
    progress.show(kind, read)
  }
  await flush(move, kind, chunk)
  const cut = reading.cut()
  if (cut !== undefined) tally.cut.push(cut)
}

type Numbered = SourceEntry & { readonly number: number }

function isValid(move: Move, kind: Kind, { email, group, number, broken }: Numbered): boolean {
  const isAddress = !email.includes('\ufffd') && parseAddress(email) !== undefined
  if (isAddress && (kind !== 'group suppressions' || group > 0)) return true
  const problem = isAddress ? 'group id is missing' : `"${email.slice(0, 100)}" is not a valid address`
  refuse(move, kind, `${kind}, entry ${number}`, broken ? 'the entry is not an object' : problem)
  return false
}

interface Page {
  readonly kind: Kind
  readonly reason: string
  readonly page: readonly Numbered[]
}

/** Compares a page with the existing suppressions. An existing suppression keeps its reason. */
async function take(
  { core, accountId, tally, dryRun }: Move,
  chunk: Chunk,
  { kind, reason, page }: Page,
): Promise<void> {
  if (page.length === 0) return
  const keyed = page.map((entry) => ({ ...entry, key: parseAddress(entry.email)?.key ?? '' }))
  const emails = [...new Set(keyed.map(({ key }) => key))]
  const found = await core.suppressions.list(accountId, { emails, limit: emails.length * MAX_GROUPS, offset: 0 })
  const here = new Map(found.suppressions.map((one) => [`${one.value} ${one.group}`, one.reason]))
  const counts = tally.counts[kind]
  for (const { key, email, group, created, number, told, status } of keyed) {
    const there = here.get(`${key} ${group}`)
    const isOther = there !== undefined && there !== reason
    if (isOther) counts.differs++
    if (dryRun && !isOther) counts[there === undefined ? 'added' : 'there']++
    if (dryRun) continue
    const since = created === undefined ? undefined : new Date(created * 1000).toISOString()
    // Also existing ones: an entry that would expire becomes permanent.
    const words = reason === 'hardbounce' ? { told, status } : {}
    chunk.rows.push({ line: number, email, reason, since, ...words, ...(group > 0 ? { group: String(group) } : {}) })
    if (isOther) chunk.differing++
  }
}

async function flush({ core, accountId, tally }: Move, kind: Kind, chunk: Chunk): Promise<void> {
  const { rows, differing } = chunk
  Object.assign(chunk, { rows: [], differing: 0 })
  if (rows.length === 0) return
  const all = async function* () {
    yield rows
  }
  const report = await core.suppressions.import({ accountId, by: OPERATOR, rows: all(), atomic: false })
  const counts = tally.counts[kind]
  counts.added += report.added
  counts.there += report.known - differing
  counts.refused += report.wrong
  for (const { line, problem } of report.problems) tell(tally.refusals, `${kind}, entry ${line}: ${problem}`)
}

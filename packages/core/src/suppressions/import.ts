import { type Actor, noteChange } from '../accounts/audit/index.ts'
import { selectHolder } from '../accounts/store.ts'
import { createSharedSlots } from '../platform/concurrency/shared-slots.ts'
import {
  type AnySql,
  isRetryable,
  onlyRow,
  openSession,
  type Sql,
  type SqlTransaction,
} from '../platform/database/database.ts'
import { withDeadline } from '../platform/database/deadlines.ts'
import { invalidParameter, ServiceError } from '../platform/errors.ts'
import type { Fragment } from './bypass.ts'
import { readListTime } from './provider-lists.ts'
import { addedAgain, scopeOf } from './store.ts'
import { ACCOUNT_REASONS, type SuppressionReason } from './suppression.ts'
import { domainOfAll, parseEmail, parseEmailDomain } from './values.ts'

/** A row of an imported list; blank cells are undefined. */
export interface ImportRow {
  /** Line number in the upload, for the report. */
  readonly line: number
  readonly email?: string | undefined
  readonly domain?: string | undefined
  readonly group?: string | undefined
  readonly reason?: string | undefined
  readonly since?: string | undefined
  /** Why it is suppressed, in the words of another service, and the enhanced status code; what cannot be stored of them is left out. */
  readonly told?: string | undefined
  readonly status?: string | undefined
  /** The reason why the row cannot be parsed, if so. */
  readonly unreadable?: string | undefined
}

export interface SuppressionImport {
  readonly accountId: number
  readonly by: Actor
  /** Batches of rows, as they arrive. */
  readonly rows: AsyncIterable<readonly ImportRow[]>
  /** If true, all rows are imported or none. */
  readonly atomic: boolean
}

export interface ImportProblem {
  readonly line: number
  readonly problem: string
}

export interface ImportReport {
  readonly rows: number
  /** Number of new entries. */
  readonly added: number
  /** Number of entries that existed already or were repeated in the list. */
  readonly known: number
  /** Number of invalid rows, which were skipped. */
  readonly wrong: number
  /** The first invalid rows. */
  readonly problems: readonly ImportProblem[]
}

/** Maximum number of invalid rows that are reported individually; all are counted. */
const MAX_REPORTED = 100
/** Maximum number of invalid rows in an error message. */
const MAX_IN_ERROR = 5
/** Maximum numbers of concurrent imports, in all and of one holder; each uses a database connection of its own for as long as its client is slow. */
const SLOTS = { total: 4, each: 1, what: 'imports' } as const
/**
 * Rows that take effect in one transaction, a fraction of a second. A million take more than ten: for as long, the events of all accounts would wait for
 * their numbers, and the outcomes of all deliveries that a worker records together with a bounce of an address in the list. The main loop decodes and
 * encodes a part in one turn: 20,000 rows took 170 ms.
 */
const PART = 5000
/** Statement timeout. The pool's 15 s are meant for statements that a client waits for. */
const TIMEOUT = '5min'
/** How often a part is applied if the server ends the transaction because of others. */
const MAX_TIMES = 5
/** Number of new entries from which the table is analyzed, because existing plans would no longer fit. */
const ANALYZE_FROM = 1000

interface Entry {
  readonly value: string
  readonly group: number
  readonly reason: SuppressionReason
  readonly since: Date | null
  readonly told: string | null
  readonly status: string | null
}

/**
 * Imports lists of any length. Rows are stored in a temporary table as they arrive, in a session of their own and
 * without a transaction, since a client may be slow. When all have arrived they take effect in parts, each together
 * with an audit log entry. If the client disconnects, nothing is changed. A list of which some parts have taken effect
 * when the process or the database ends can be imported again.
 *
 * Throws suppressionImportRefused (atomic, and a row is invalid), overloaded, and what `rows` throws.
 */
export function createImporter(sql: Sql): (list: SuppressionImport) => Promise<ImportReport> {
  const inSlot = createSharedSlots(SLOTS)
  return async (list) => inSlot(await selectHolder(sql, list.accountId), () => importList(sql, list))
}

async function importList(sql: Sql, list: SuppressionImport): Promise<ImportReport> {
  const session = withDeadline(openSession(sql), 'long')
  try {
    await session`create temporary table aside (value text, group_id int, reason text, since timestamptz, told text, status text)`
    const read = await storeRows(session, list)
    if (list.atomic && read.wrong > 0) throw importError(read)
    return { ...read, ...(await applyRows(session, list)) }
  } finally {
    await session.end({ timeout: 1 })
  }
}

type Read = Pick<ImportReport, 'rows' | 'wrong' | 'problems'>

async function storeRows(session: Sql, { rows }: SuppressionImport): Promise<Read> {
  const problems: ImportProblem[] = []
  let [count, wrong] = [0, 0]
  for await (const some of rows) {
    const entries: Entry[] = []
    for (const row of some) {
      count++
      try {
        entries.push(...entriesOf(row))
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        if (++wrong <= MAX_REPORTED) problems.push({ line: row.line, problem: error.message })
      }
    }
    if (entries.length === 0) continue
    await session`insert into aside select * from ${given(session, entries)}`
  }
  return { rows: count, wrong, problems }
}

type Counts = Pick<ImportReport, 'added' | 'known'>

async function applyRows(session: Sql, list: SuppressionImport): Promise<Counts> {
  await session.begin(async (transaction) => {
    await transaction`select set_config('statement_timeout', ${TIMEOUT}, true)`
    // In the order of all writers, a complaint before other reasons, and an unsubscribe after them: who complained, too, has both.
    await transaction`
      declare sorted no scroll cursor with hold for
       select value, group_id as "group", reason, since, told, status from aside
        order by value, group_id, reason = 'unsubscribe', array_position(array['abuse'], reason), since`
  })
  let [added, known] = [0, 0]
  for (;;) {
    const part = await session<Entry[]>`fetch ${session.unsafe(String(PART))} from sorted`
    if (part.length === 0) break
    const applied = await applyPartAgain(session, list, part)
    added += applied.added
    known += applied.known
  }
  if (added > ANALYZE_FROM) await session`analyze suppressions`
  return { added, known }
}

/**
 * It locks entries in two runs, each in the order of all writers. Who locks some of both runs meanwhile, another import or a change of the list, may
 * wait for this one as it waits for them: of the two, the server ends one.
 */
async function applyPartAgain(session: Sql, list: SuppressionImport, part: readonly Entry[]): Promise<Counts> {
  for (let time = 1; ; time++) {
    try {
      return await applyPart(session, list, part)
    } catch (error) {
      if (!isRetryable(error) || time === MAX_TIMES) throw error
    }
  }
}

async function applyPart(session: Sql, { accountId, by }: SuppressionImport, part: readonly Entry[]): Promise<Counts> {
  return session.begin(async (transaction) => {
    await transaction`select set_config('statement_timeout', ${TIMEOUT}, true)`
    await transaction`
      delete from suppressions s using ${given(transaction, part)}
       where s.account_id = ${accountId} and s.value = a.value and s.group_id = a.group_id and s.held_until <= service_now()`
    // In statements of their own: one cannot change an entry twice.
    const isUnsubscribe = ({ reason }: Entry) => reason === 'unsubscribe'
    const others = part.filter((entry) => !isUnsubscribe(entry))
    const added =
      (await insertGiven(transaction, accountId, others)) +
      (await insertGiven(transaction, accountId, part.filter(isUnsubscribe)))
    const known = part.length - added
    if (added > 0) {
      const change = { action: 'suppression.import', object: 'suppressions', after: { added, known } }
      await noteChange(transaction, { accountId, by, ...change })
    }
    return { added, known }
  })
}

async function insertGiven(sql: SqlTransaction, accountId: number, entries: readonly Entry[]): Promise<number> {
  if (entries.length === 0) return 0
  return onlyRow(
    await sql<{ added: number }[]>`
      with added as (
        insert into suppressions as s (account_id, scope, value, group_id, reason, since, told, told_status)
        select ${accountId}::int, ${scopeOf(sql, sql`value`, sql`group_id`)}, value, group_id, reason,
               coalesce(least(since, service_now()), service_now()), told, status
          from (select distinct on (value, group_id) * from ${given(sql, entries)}
                 order by value, group_id, array_position(array['abuse'], reason), since) a
        ${addedAgain(sql)}
        returning s.xmax = 0 as fresh)
      select (count(*) filter (where fresh))::int as added from added`,
  ).added
}

/** The entries, as a relation. */
function given(sql: AnySql, entries: readonly Entry[]): Fragment {
  return sql`unnest(
    ${entries.map(({ value }) => value)}::text[], ${entries.map(({ group }) => group)}::int[], ${entries.map(({ reason }) => reason)}::text[],
    ${entries.map(({ since }) => since?.toISOString() ?? null)}::timestamptz[], ${entries.map(({ told }) => told)}::text[],
    ${entries.map(({ status }) => status)}::text[]) as a(value, group_id, reason, since, told, status)`
}

function importError({ rows, wrong, problems }: Read): ServiceError {
  const listed = problems.slice(0, MAX_IN_ERROR).map(({ line, problem }) => `line ${line}: ${problem}`)
  return new ServiceError('suppressionImportRefused', { values: { wrong, rows, problems: listed.join('; ') } })
}

/** Converts a row to entries. Throws the error that describes why the row is invalid. */
function entriesOf({ group, reason, since, told, status, unreadable, ...named }: ImportRow): Entry[] {
  if (unreadable !== undefined) throw invalidParameter('row', unreadable)
  const ofAll = domainOfAll(named.email ?? '')
  const [email, domain] = ofAll === undefined ? [named.email, named.domain] : [undefined, ofAll]
  if (email === undefined && domain === undefined) {
    throw new ServiceError('parameterMissing', { values: { parameter: 'email' } })
  }
  const common = { reason: reasonOf(reason), since: timeOf(since), told: toldOf(told), status: statusOf(status) }
  const number = groupOf(group)
  if (number > 0 && domain !== undefined)
    throw invalidParameter('domain', 'cannot be combined with a group: groups contain only addresses')
  return [
    ...(email === undefined ? [] : [{ ...common, value: parseEmail(email), group: number }]),
    ...(domain === undefined ? [] : [{ ...common, value: parseEmailDomain(domain), group: 0 }]),
  ]
}

function reasonOf(text = 'manual'): SuppressionReason {
  const reason = ACCOUNT_REASONS.find((one) => one === text.toLowerCase())
  if (!reason) throw invalidParameter('reason', `must be one of ${ACCOUNT_REASONS.join(', ')}`)
  return reason
}

function groupOf(text = '0'): number {
  if (!/^\d{1,9}$/.test(text)) throw invalidParameter('group', 'must be a number')
  return Number(text)
}

/** Characters of the words of another service that are stored. */
const MAX_TOLD = 500
/** RFC 3463 2. */
const STATUS = /^[245]\.\d{1,3}\.\d{1,3}$/

function toldOf(text = ''): string | null {
  const told = text.replaceAll('\0', '').toWellFormed().trim().slice(0, MAX_TOLD).toWellFormed()
  return told === '' ? null : told
}

function statusOf(text = ''): string | null {
  return STATUS.test(text) ? text : null
}

function timeOf(text: string | undefined): Date | null {
  if (text === undefined) return null
  const time = readListTime(text)
  if (!time) throw invalidParameter('since', 'must be a time like 2026-01-05 10:11:12')
  return time
}

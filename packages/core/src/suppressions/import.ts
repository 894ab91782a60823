import { type Actor, noteChange } from '../accounts/audit/index.ts'
import { openSession, type Sql } from '../platform/database/database.ts'
import { within } from '../platform/database/deadlines.ts'
import { invalidParameter, ServiceError } from '../platform/errors.ts'
import { scopeOf } from './store.ts'
import { ACCOUNT_REASONS, type SuppressionReason } from './suppression.ts'
import { parseEmail, parseEmailDomain } from './values.ts'

/** A row of a list, as it came; a blank cell is undefined. */
export interface ImportRow {
  /** Where it stands in what the client sent, for the report. */
  readonly line: number
  readonly email?: string | undefined
  readonly domain?: string | undefined
  readonly group?: string | undefined
  readonly reason?: string | undefined
  readonly since?: string | undefined
  /** The row can't be read at all: why. */
  readonly unreadable?: string | undefined
}

export interface SuppressionImport {
  readonly accountId: number
  readonly by: Actor
  /** Some rows at a time, as they arrive. */
  readonly rows: AsyncIterable<readonly ImportRow[]>
  /** All or nothing. */
  readonly atomic: boolean
}

export interface ImportProblem {
  readonly line: number
  readonly problem: string
}

export interface ImportReport {
  readonly rows: number
  /** Entries that are new. */
  readonly added: number
  /** Entries that were there before, or came more than once. */
  readonly known: number
  /** Rows that are wrong and were left out. */
  readonly wrong: number
  /** The first of them. */
  readonly problems: readonly ImportProblem[]
}

/** Wrong rows that are told one by one; they are counted all. */
const TOLD = 100
/** Wrong rows named where one sentence tells of them. */
const TOLD_IN_SENTENCE = 5
/** Each holds a connection of its own to the database. */
const AT_ONCE = 2
/** A million rows take some ten seconds; the pool's 15 s are for what a client waits for. */
const PATIENCE = '5min'
/** From so many new entries on, plans made for the list as it was would no longer do. */
const MANY = 1000

interface Entry {
  readonly value: string
  readonly group: number
  readonly reason: SuppressionReason
  readonly since: Date | null
}

/**
 * Imports lists of any length. Rows are put aside as they arrive, on a session of their own and without a transaction, since
 * a client may take its time; once all are there they take effect in one transaction, with their entry in the audit log. A
 * client that breaks off has changed nothing.
 *
 * Throws suppressionImportRefused (atomic, and a row is wrong), overloaded, and what `rows` throws.
 */
export function importerOf(sql: Sql): (list: SuppressionImport) => Promise<ImportReport> {
  let running = 0
  return async (list) => {
    if (running >= AT_ONCE) throw new ServiceError('overloaded', { reason: 'too many imports at once' })
    running++
    const session = within(openSession(sql), 'long')
    try {
      await session`create temporary table aside (value text, group_id int, reason text, since timestamptz)`
      const read = await putAside(session, list)
      if (list.atomic && read.wrong > 0) throw refusal(read)
      return { ...read, ...(await takeEffect(session, list)) }
    } finally {
      running--
      await session.end({ timeout: 1 })
    }
  }
}

type Read = Pick<ImportReport, 'rows' | 'wrong' | 'problems'>

async function putAside(session: Sql, { rows }: SuppressionImport): Promise<Read> {
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
        if (++wrong <= TOLD) problems.push({ line: row.line, problem: error.message })
      }
    }
    if (entries.length === 0) continue
    await session`
      insert into aside select * from unnest(
        ${entries.map(({ value }) => value)}::text[], ${entries.map(({ group }) => group)}::int[],
        ${entries.map(({ reason }) => reason)}::text[], ${entries.map(({ since }) => since?.toISOString() ?? null)}::timestamptz[])`
  }
  return { rows: count, wrong, problems }
}

async function takeEffect(
  session: Sql,
  { accountId, by }: SuppressionImport,
): Promise<Pick<ImportReport, 'added' | 'known'>> {
  return session.begin(async (transaction) => {
    await transaction`select set_config('statement_timeout', ${PATIENCE}, true)`
    await transaction`
      delete from suppressions s using aside a
       where s.account_id = ${accountId} and s.value = a.value and s.group_id = a.group_id and s.held_until <= service_now()`
    const [counted] = await transaction<[{ added: number; given: number }]>`
      with added as (
        insert into suppressions as s (account_id, scope, value, group_id, reason, since)
        select ${accountId}::int, ${scopeOf(transaction, transaction`value`, transaction`group_id`)}, value, group_id, reason,
               coalesce(least(since, service_now()), service_now())
          from (select distinct on (value, group_id) * from aside order by value, group_id, since) a
        on conflict (account_id, value, group_id) do update set held_until = null where s.held_until is not null
        returning s.xmax = 0 as fresh)
      select (select count(*) filter (where fresh) from added)::int as added, (select count(*) from aside)::int as given`
    const { added, given } = counted
    if (added > MANY) await transaction`analyze suppressions`
    if (added > 0) {
      const after = { added, known: given - added }
      await noteChange(transaction, { accountId, by, action: 'suppression.import', object: 'suppressions', after })
    }
    return { added, known: given - added }
  })
}

function refusal({ rows, wrong, problems }: Read): ServiceError {
  const told = problems.slice(0, TOLD_IN_SENTENCE).map(({ line, problem }) => `line ${line}: ${problem}`)
  return new ServiceError('suppressionImportRefused', { values: { wrong, rows, problems: told.join('; ') } })
}

/** Throws the refusal that says what is wrong with the row. */
function entriesOf({ email, domain, group, reason, since, unreadable }: ImportRow): Entry[] {
  if (unreadable !== undefined) throw invalidParameter('row', unreadable)
  if (email === undefined && domain === undefined) {
    throw new ServiceError('parameterMissing', { values: { parameter: 'email' } })
  }
  const common = { reason: reasonOf(reason), since: timeOf(since) }
  const number = groupOf(group)
  if (number > 0 && domain !== undefined) throw invalidParameter('domain', 'a group holds addresses only')
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

/** ISO 8601, with a blank for the T; without a zone it is UTC. */
const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?)?$/

function timeOf(text: string | undefined): Date | null {
  if (text === undefined) return null
  const [whole, day, clock = '00:00', zone = 'Z'] = TIME.exec(text) ?? []
  const time = new Date(`${day}T${clock}${zone}`)
  if (whole === undefined || Number.isNaN(time.getTime())) {
    throw invalidParameter('since', 'must be a time like 2026-01-05 10:11:12')
  }
  return time
}

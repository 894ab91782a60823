import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { isDatabaseTrouble, type Sql } from '../../platform/database/database.ts'
import type { ReadNeeds, Reads } from '../../platform/database/reads.ts'
import { count } from '../../platform/metrics/metrics.ts'
import { type NumberRange, rangeOf, readRun } from './read-span.ts'
import { headOf, lineOf } from './row.ts'
import {
  insertPart,
  isClaimed,
  postponeStep,
  type StoredExport,
  saveEnd,
  saveStep,
  sumOctets,
  takeDue,
} from './store.ts'

const compress = promisify(gzip)

/** Approximate number of characters of a part before compression. */
const PART_LENGTH = 4 * 1024 * 1024
/** Milliseconds after which a step ends, however many events it has read. */
const STEP_MS = 2000
/** Seconds before a failed step is retried, after a database outage and after an internal error. */
const RETRY_AFTER = { outage: 1, fault: 60 } as const
/** Number of consecutive internal errors after which a job fails. */
const MAX_FAILURES = 5
/** Retention of files in days. */
export const RETENTION_DAYS = 7

export interface WorkDependencies {
  readonly sql: Sql
  readonly reads: Reads
  /** Maximum total size of the files of one account in bytes. */
  readonly storage: number
}

/**
 * Processes one step of the job that has waited longest: exports some thousand events to one part of its file and stores it in the
 * same transaction as the job's progress, so that a crash leaves no partial step. No transaction is open while events are read,
 * because it would delay their numbering. Returns false if no job is due. Any number of workers may call it.
 */
export async function workSome(dependencies: WorkDependencies): Promise<boolean> {
  const { sql, reads } = dependencies
  const job = await takeDue(sql)
  if (!job) return false
  try {
    await saveRead(dependencies, job, await readStep(reads, job))
    return true
  } catch (error) {
    await postpone(sql, job, isDatabaseTrouble(error)).catch(() => {})
    throw error
  }
}

interface Step extends NumberRange {
  readonly rows: number
  readonly part: Buffer | undefined
}

async function readStep(reads: Reads, job: StoredExport): Promise<Step> {
  const { position: begun, lastNumber, format } = job
  const fresh = begun === null || lastNumber === null
  // Then it contains all that was committed before, such as an erasure, which restarts the job.
  const needs: ReadNeeds = { holds: (snapshot) => isClaimed(snapshot, job) }
  const { last, ...range } = fresh
    ? await reads.snapshot((snapshot) => rangeOf(snapshot, job), needs)
    : { position: begun, last: lastNumber }
  let { position } = range
  let rows = 0
  const lines: string[] = fresh ? [headOf(format)] : []
  let length = 0
  const end = performance.now() + STEP_MS
  while (position < last && length < PART_LENGTH && performance.now() < end) {
    const run = await reads.snapshot((snapshot) => readRun(snapshot, job, { position, last }), needs)
    for (const event of run.events) {
      const line = lineOf(format, event)
      length += line.length
      lines.push(line)
    }
    rows += run.events.length
    position = run.position
  }
  const text = lines.join('')
  return { position, last, rows, part: text === '' ? undefined : await compress(text) }
}

async function saveRead(
  { sql, storage }: WorkDependencies,
  job: StoredExport,
  { position, last, rows, part }: Step,
): Promise<void> {
  const ended = (await sql.begin(async (transaction) => {
    const saved = await saveStep(transaction, job, {
      position,
      lastNumber: last,
      rows: job.rows + rows,
      parts: job.parts + (part ? 1 : 0),
      octets: job.octets + (part?.length ?? 0),
    })
    if (!saved) return undefined
    if (part) await insertPart(transaction, job.id, job.parts, part)
    if ((await sumOctets(transaction, job.accountId)) > storage) {
      const megabytes = Math.floor(storage / 1024 / 1024)
      const problem = `export files of the last ${RETENTION_DAYS} days would exceed ${megabytes} MB in total`
      await saveEnd(transaction, job.id, { state: 'failed', problem, keptDays: RETENTION_DAYS })
      return 'failed'
    }
    if (position < last) return undefined
    await saveEnd(transaction, job.id, { state: 'done', problem: null, keptDays: RETENTION_DAYS })
    return 'done'
  })) as 'done' | 'failed' | undefined
  if (ended) count('exports_total', { result: ended })
}

async function postpone(sql: Sql, { id }: StoredExport, isOutage: boolean): Promise<void> {
  const seconds = isOutage ? RETRY_AFTER.outage : RETRY_AFTER.fault
  const failures = await postponeStep(sql, id, { seconds, fault: !isOutage })
  if (isOutage || failures < MAX_FAILURES) return
  await sql.begin((transaction) =>
    saveEnd(transaction, id, { state: 'failed', problem: 'internal error', keptDays: RETENTION_DAYS }),
  )
  count('exports_total', { result: 'failed' })
}

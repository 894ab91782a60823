import type { Sql } from '../../../platform/database/database.ts'
import { type CheckedSource, claimDueSources, type Subject } from './store.ts'

/** Number of sources that one round checks concurrently; each takes at most 8 s. */
const CONCURRENT = 5

export interface Round {
  /** Maximum number of sources. */
  readonly limit: number
  readonly signal?: AbortSignal | undefined
}

/** Checks sources that are due. Returns how many were due. If checks failed, throws the first error after checking the others. */
export async function checkDueSources(
  sql: Sql,
  subject: Subject,
  { limit, signal }: Round,
  check: (source: CheckedSource, now: Date) => Promise<void>,
): Promise<number> {
  const { sources, now } = await claimDueSources(sql, subject, limit)
  const failures: unknown[] = []
  await forEachOf(sources, CONCURRENT, async (source) => {
    if (!signal?.aborted) await check(source, now).catch((error: unknown) => failures.push(error))
  })
  if (failures.length > 0) throw failures[0]
  return sources.length
}

/** Calls `act` for each item, for at most `atOnce` of them at the same time. */
export async function forEachOf<T>(items: readonly T[], atOnce: number, act: (item: T) => Promise<unknown>) {
  const left = [...items]
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work))
}

import type { AnySql } from '../../platform/database/database.ts'
import {
  FIRST_POSITION,
  type FinishedDelivery,
  type FinishedPage,
  type FinishedPosition,
  type FinishedSource,
  type LeftOut,
} from './finished.ts'
import type { JobFilter } from './job-filter.ts'
import { MAX_SHOWN, type Matches, SAMPLE } from './matches.ts'

/** Bounces and expiries that are looked at for a plan, and at a time. */
const MAX_READ = 50_000
const PAGE = 2000

/** Returns what a job would do to finished deliveries: page by page, by the rules that the job follows. */
export async function matchFinished(finished: FinishedSource, sql: AnySql, filter: JobFilter): Promise<Matches> {
  const leftOut = new Map<LeftOut, number>()
  const byDestination = new Map<string | null, number>()
  const byAccount = new Map<number, number>()
  const byBounceClass = new Map<string | null, number>()
  const sample: FinishedDelivery[] = []
  let count = 0
  let after: FinishedPosition | undefined = FIRST_POSITION
  for (let read = 0; after && read < MAX_READ; read += PAGE) {
    const page: FinishedPage = await finished.find(sql, filter, after, PAGE)
    const evaluated = await finished.evaluate(sql, page.found)
    for (const why of evaluated.leftOut) add(leftOut, why)
    for (const one of evaluated.wanted) {
      add(byDestination, one.place)
      add(byAccount, one.accountId)
      add(byBounceClass, one.bounceClass)
      if (sample.length < SAMPLE) sample.push(one)
    }
    count += evaluated.wanted.length
    after = page.next
  }
  return {
    count,
    partial: after !== undefined,
    byPlace: largest(byDestination).map(([place, count]) => ({ place, count })),
    byAccount: largest(byAccount).map(([accountId, count]) => ({ accountId, count })),
    sample: sample.map(({ messageId, recipientNo, accountId, recipient, state }) => ({
      messageId: messageId.replaceAll('-', ''),
      recipientNo,
      accountId,
      recipient,
      state,
    })),
    byBounceClass: [...byBounceClass]
      .sort(([, a], [, b]) => b - a)
      .map(([bounceClass, count]) => ({ bounceClass, count })),
    leftOut: Object.fromEntries(leftOut),
  }
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function largest<K>(counts: ReadonlyMap<K, number>): [K, number][] {
  return [...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_SHOWN)
}

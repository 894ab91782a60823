import type { AnySql } from '../../platform/database/database.ts'
import type { Providers } from '../providers/providers.ts'
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

export interface FinishedDependencies {
  readonly finished: FinishedSource
  readonly providers: Providers
}

/** Returns what a job would do to finished deliveries: page by page, by the rules that the job follows. */
export async function matchFinished(
  { sql, finished, providers }: FinishedDependencies & { readonly sql: AnySql },
  filter: JobFilter,
): Promise<Matches> {
  const leftOut = new Map<LeftOut, number>()
  const byPlace = new Map<string | null, number>()
  const byAccount = new Map<number, number>()
  const byBounceClass = new Map<string | null, number>()
  const sample: FinishedDelivery[] = []
  let count = 0
  let after: FinishedPosition | undefined = FIRST_POSITION
  for (let read = 0; after && read < MAX_READ; read += PAGE) {
    const page: FinishedPage = await findPage({ finished, providers }, sql, filter, after, PAGE)
    const judged = await finished.judge(sql, page.found)
    for (const why of judged.leftOut) add(leftOut, why)
    for (const one of judged.wanted) {
      add(byPlace, providerOf(providers, one))
      add(byAccount, one.accountId)
      add(byBounceClass, one.bounceClass)
      if (sample.length < SAMPLE) sample.push(one)
    }
    count += judged.wanted.length
    after = page.next
  }
  return {
    count,
    partial: after !== undefined,
    byPlace: largest(byPlace).map(([place, count]) => ({ place, count })),
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

/** Returns a page of the deliveries that meet the filter. */
export async function findPage(
  { finished, providers }: FinishedDependencies,
  sql: AnySql,
  filter: JobFilter,
  after: FinishedPosition,
  limit: number,
): Promise<FinishedPage> {
  const { found, next } = await finished.find(sql, filter, after, limit)
  const { provider } = filter
  if (provider === undefined) return { found, next }
  return { found: found.filter((one) => providerOf(providers, one) === provider), next }
}

function providerOf(providers: Providers, { host }: FinishedDelivery): string | null {
  return host === null ? null : (providers.ofHost(host.toLowerCase().replace(/\.$/, ''))?.name ?? null)
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function largest<K>(counts: ReadonlyMap<K, number>): [K, number][] {
  return [...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_SHOWN)
}

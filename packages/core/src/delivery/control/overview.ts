import { DELIVERY_CLASSES } from '../../accounts/mail-class.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import { readMovedClock } from '../../platform/database/moved-clock.ts'
import { readInOrder } from '../../platform/database/read-in-order.ts'
import { timeOfId } from '../../submission/message-id.ts'
import { livingWorkers } from '../leases/lease.ts'
import { effectiveLimits } from '../limits/destination-limits.ts'
import { partsOfDestination } from '../limits/destination-names.ts'
import { type Override, overridesFor, readOverrides } from '../limits/overrides.ts'
import { type RefusedOverview, readRefusals } from '../limits/refusals.ts'
import type { Providers } from '../providers/providers.ts'
import type { MessageRate } from '../providers/units.ts'
import { isHeldDestination } from '../queue/account-holds.ts'
import { type FlowRate, groupRates } from '../queue/flow-progress.ts'
import type { WaitingFor } from '../queue/parking.ts'
import { countGroups, type QueueGrouping, type QueueKind } from './count-groups.ts'

/** A count that ended at its bound if `more`. */
export interface BoundedCount {
  readonly count: number
  readonly more: boolean
}

export interface QueueGroup {
  /**
   * Destination, account id, class, domain or source. Mail that is not parked is counted at the destination and source of its last attempt; null for that
   * without one.
   */
  readonly name: string | null
  readonly due: BoundedCount
  /** Retries and scheduled mail. */
  readonly later: BoundedCount
  /** Parked at its destination, by what it waits for. */
  readonly parked: Readonly<Record<WaitingFor, BoundedCount>>
  /** Held by the operator, set aside, or of a paused batch. */
  readonly held: BoundedCount
  readonly inFlight: number
  /** How much of its parked mail was tried lately, at most within two minutes; null if none was, and by domain. */
  readonly rate: FlowRate | null
  /** When all that is parked now is tried, if it goes on like this; null if unknown, if some is paused, or if the count is a lower bound. */
  readonly doneAt: Date | null
  readonly total: BoundedCount
  /** When the oldest message that was counted was accepted, without those that are scheduled for a later time. */
  readonly oldest: Date | null
  /** The limits of a destination; null for other groups. */
  readonly limits: GroupLimits | null
  /** Of a destination, all; of an account, those that apply only to its mail. */
  readonly overrides: readonly Override[]
}

export interface GroupLimits {
  /** Connections of all workers, and how many they may have. */
  readonly connections: { readonly used: number; readonly limit: number }
  readonly rate: MessageRate | null
  readonly isPaused: boolean
}

export interface QueueOverview {
  readonly by: QueueGrouping
  /** The largest groups first. */
  readonly groups: readonly QueueGroup[]
  /** By provider: refusals of destinations within the last hour, whether mail waits there or not. Otherwise empty. */
  readonly refused: RefusedOverview
  /** Number of running delivery workers, on all hosts. */
  readonly workers: number
  /** Number of groups found beyond these. */
  readonly others: number
  /** Whether there may be groups that were not found, because the queue is read only in part. */
  readonly partial: boolean
}

/** Number of groups shown. */
export const OVERVIEW_LIMIT = { usual: 20, most: 1000 } as const

export interface OverviewDependencies {
  readonly sql: Sql
  readonly providers: Providers
  readonly siteConnections: number
}

/** Rows read at first, and if that takes too long. */
const BUDGETS = [100_000, 5000] as const
/** Rows read at a glance, which is repeated every two seconds. */
const GLANCE_BUDGETS = [1000, 500] as const

export interface OverviewQuery {
  readonly by: QueueGrouping
  readonly limit: number
  /** Reads little: of a long queue, the largest groups, whose counts beyond their bounds are estimates. */
  readonly glance?: boolean
}
const TIMEOUT_MS = 4000
const QUERY_CANCELED = '57014'
const NONE_REFUSED: RefusedOverview = { places: [], others: 0, partial: false }

/** Returns what is in the queue, by groups. However long the queue is, it reads at most about 250,000 rows of it, for a few seconds; at a glance, 5,000. */
export async function readOverview(
  { sql, providers, siteConnections }: OverviewDependencies,
  { by, limit, glance = false }: OverviewQuery,
): Promise<QueueOverview> {
  const { counts, partial } = await countInTime(sql, glance ? GLANCE_BUDGETS : BUDGETS, (snapshot, budget) =>
    countGroups(snapshot, by, budget, glance),
  )
  const byKey = Map.groupBy(counts, ({ key }) => key)
  const overrides = await readOverrides(
    sql,
    providers.all.map(({ name }) => name),
  )
  const byDestination = Map.groupBy(overrides, ({ place }) => place)
  const slots = await readSlots(sql)
  const rates: ReadonlyMap<string, FlowRate> = by === 'domain' ? new Map() : await groupRates(sql, by)
  const workers = await livingWorkers(sql)
  const { now } = await readMovedClock(sql)
  const refused = by === 'provider' ? await readRefusals(sql, limit) : NONE_REFUSED
  const concerned = by === 'provider' ? [...slots.keys(), ...overrides.map(({ place }) => place)] : []
  const keys = new Set([...byKey.keys(), ...concerned])
  const groups = [...keys].map((key): QueueGroup => {
    const own =
      by === 'provider'
        ? overridesFor(key ?? '', byDestination)
        : overrides.filter((one) => String(one.accountId) === key)
    const found = byKey.get(key) ?? []
    const of = (...kinds: QueueKind[]): BoundedCount => {
      const those = found.filter(({ kind }) => kinds.length === 0 || kinds.includes(kind))
      return { count: those.reduce((sum, { count }) => sum + count, 0), more: those.some(({ more }) => more) }
    }
    const [oldest] = found.flatMap((one) => one.oldest ?? []).sort()
    const rate = rates.get(key ?? '') ?? null
    const limits = by === 'provider' && key !== null && !isHeldDestination(key) ? limitsOf(key, own) : null
    return {
      name: by === 'class' ? (DELIVERY_CLASSES[Number(key)] ?? key) : key,
      due: of('due'),
      later: of('later'),
      parked: {
        pause: of('pause'),
        rate: of('rate'),
        connections: of('connections'),
        'warm-up': of('warm-up'),
        source: of('source'),
        account: of('account'),
      },
      held: of('held'),
      inFlight: of('sending').count,
      rate,
      doneAt:
        of('pause').count > 0 ? null : doneAt(rate, of('rate', 'connections', 'warm-up', 'source', 'account'), now),
      total: of(),
      oldest: oldest === undefined ? null : timeOfId(oldest),
      limits,
      overrides: by === 'provider' || by === 'account' ? own : [],
    }
  })
  function limitsOf(destination: string, own: readonly Override[]): GroupLimits {
    const { connections, rate, isPaused } = effectiveLimits({
      provider: providers.named(partsOfDestination(destination).base),
      siteConnections,
      overrides: own,
    })
    return { connections: { used: slots.get(destination) ?? 0, limit: connections }, rate: rate ?? null, isPaused }
  }
  groups.sort((a, b) => b.total.count - a.total.count || String(a.name).localeCompare(String(b.name)))
  return {
    by,
    workers: workers.size,
    groups: groups.slice(0, limit),
    refused,
    others: Math.max(0, groups.length - limit),
    partial,
  }
}

function doneAt(rate: FlowRate | null, waiting: BoundedCount, now: number): Date | null {
  if (!rate || rate.tried === 0 || waiting.count === 0 || waiting.more) return null
  return new Date(now + (waiting.count / rate.tried) * rate.seconds * 1000)
}

/** Counts in the queue; if that takes too long, in a smaller part of it. */
export async function countInTime<Counts>(
  sql: Sql,
  [first, second]: readonly [number, number],
  count: (snapshot: AnySql, budget: number) => Promise<Counts>,
): Promise<Counts> {
  const countWithin = (budget: number) =>
    sql.begin('isolation level repeatable read read only', async (snapshot) => {
      await snapshot`select set_config('statement_timeout', ${String(TIMEOUT_MS)}, true)`
      await readInOrder(snapshot, true)
      return count(snapshot, budget)
    }) as Promise<Counts>
  try {
    return await countWithin(first)
  } catch (error) {
    if ((error as { code?: string }).code !== QUERY_CANCELED) throw error
    return countWithin(second)
  }
}

async function readSlots(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql<{ place: string; used: number }[]>`
    select place, count(*)::int as used from connection_slots group by place`
  return new Map(rows.map(({ place, used }) => [place, used]))
}

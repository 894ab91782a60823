import type { Sql } from '../../platform/database/database.ts'
import { readInOrder } from '../../platform/database/read-in-order.ts'
import { effectiveLimits } from '../limits/destination-limits.ts'
import { partsOfDestination, sourcedDestination } from '../limits/destination-names.ts'
import { type LimitSetting, type Override, overridesFor, readOverrides } from '../limits/overrides.ts'
import { type RefusedAs, refusalsAt } from '../limits/refusals.ts'
import type { MessageRate } from '../providers/units.ts'
import { readEgress } from '../sources/egress.ts'
import { smartHostOf } from '../sources/smart-hosts.ts'
import { countTriedAt, MAX_COUNTED, type TriedCount } from './count-groups.ts'
import { type BoundedCount, countInTime, type OverviewDependencies } from './overview.ts'

/** A limit in effect at a destination. */
export interface LimitInEffect {
  readonly setting: LimitSetting
  /** The limit, or the rate as messages per seconds; null for a pause. */
  readonly value: number | MessageRate | null
  /** The account whose mail it applies to; null: the mail of all. */
  readonly accountId: number | null
  /** `file`: the providers' file; `default`: the settings of this installation; otherwise the rule of an override. */
  readonly from: string
  /** Null if it does not end. */
  readonly until: Date | null
}

export interface ParkedOf extends BoundedCount {
  readonly accountId: number
}

export interface DestinationDetails {
  readonly place: string
  /** Whether it is one of the providers; otherwise it is a site. */
  readonly isProvider: boolean
  /** The destinations of this provider or site and single sources that have limits of their own or parked mail. */
  readonly ofSources: readonly string[]
  readonly limits: readonly LimitInEffect[]
  readonly overrides: readonly Override[]
  /** Connection slots, by worker. */
  readonly slots: readonly {
    readonly workerId: number
    readonly host: string | null
    readonly pid: number | null
    readonly used: number
  }[]
  /** The hits of the last hour. */
  readonly ruleHits: readonly { readonly rule: string; readonly accountId: number | null; readonly hits: number }[]
  /** Refusals within the last hour by the class of the reply, the most frequent one first. */
  readonly refused: readonly RefusedAs[]
  /** Mail that was tried there last and is not parked: due, and waiting for its retry. A lower bound if the queue is long. */
  readonly due: BoundedCount
  readonly later: BoundedCount
  /** The accounts with most mail first, at most 1000. */
  readonly parked: readonly ParkedOf[]
  /** Some of the parked deliveries, those that are looked at next first. */
  readonly sample: readonly {
    /** 32 hex digits. */
    readonly messageId: string
    readonly recipientNo: number
    readonly accountId: number
    readonly recipient: string
    readonly attempts: number
    readonly waitingFor: string | null
    readonly expiresAt: Date
  }[]
}

const MAX_ACCOUNTS = 1000
const SAMPLE = 5
/** Rows that are read to count what was tried at the destination last, and if that takes too long. */
const BUDGETS = [20_000, 2000] as const

/** Reads all about a destination but its retries. */
async function readFacts({ sql, providers }: OverviewDependencies, destination: string) {
  const provider = providers.named(partsOfDestination(destination).base)
  const byDestination = Map.groupBy(await readOverrides(sql), (one) => one.place)
  const overrides = overridesFor(destination, byDestination)
  const slots = await sql<DestinationDetails['slots'][number][]>`
    select s.worker_id as "workerId", w.host, w.pid, count(*)::int as used
      from connection_slots s left join workers w on w.id = s.worker_id where s.place = ${destination} group by 1, 2, 3 order by 1`
  const ruleHits = await sql<DestinationDetails['ruleHits'][number][]>`
    select rule, nullif(account_id, 0) as "accountId", sum(hits)::int as hits from rule_hits
     where place = ${destination} and minute > service_now() - interval '1 hour' group by 1, 2 order by 3 desc`
  const refused = await refusalsAt(sql, destination)
  const parked = await countParkedAt(sql, destination)
  const { base, source } = partsOfDestination(destination)
  const egress = await readEgress(sql)
  const ofSources =
    source === undefined
      ? await activeDestinations(
          sql,
          egress.sources.map(({ name }) => sourcedDestination({ base, source: name })),
          byDestination,
        )
      : []
  const isUsed = [overrides, slots, ruleHits, refused, parked, ofSources].some(({ length }) => length > 0)
  const isNamed = provider !== undefined && (source === undefined || egress.sources.some(({ name }) => name === source))
  const isFound = isNamed || isUsed || (await isSmartHost(sql, destination))
  return { isFound, provider, overrides, slots, ruleHits, refused, parked, ofSources }
}

function triedAt(sql: Sql, destination: string): Promise<readonly TriedCount[]> {
  return countInTime(sql, BUDGETS, (snapshot, budget) => countTriedAt(snapshot, destination, budget))
}

/** Whether {@link showDestination} finds it. The queue is counted only if nothing else knows it. */
export async function isKnownDestination(dependencies: OverviewDependencies, destination: string): Promise<boolean> {
  const { isFound } = await readFacts(dependencies, destination)
  return isFound || (await triedAt(dependencies.sql, destination)).some(({ count }) => count > 0)
}

/** Returns everything about one destination; undefined if neither the providers nor the database know it. */
export async function showDestination(
  dependencies: OverviewDependencies,
  destination: string,
): Promise<DestinationDetails | undefined> {
  const { sql, siteConnections } = dependencies
  const { isFound, provider, overrides, slots, ruleHits, refused, parked, ofSources } = await readFacts(
    dependencies,
    destination,
  )
  const tried = await triedAt(sql, destination)
  if (!isFound && tried.every(({ count }) => count === 0)) return undefined
  return {
    place: destination,
    isProvider: provider !== undefined,
    ofSources,
    limits: limitsInEffect({ provider, siteConnections, overrides }),
    overrides,
    slots,
    ruleHits,
    refused,
    due: countOf(tried, 'due'),
    later: countOf(tried, 'later'),
    parked,
    sample: await readSample(sql, destination),
  }
}

function countOf(counts: readonly TriedCount[], of: TriedCount['kind']): BoundedCount {
  const { count, more } = counts.find(({ kind }) => kind === of) ?? { count: 0, more: false }
  return { count, more }
}

async function activeDestinations(
  sql: Sql,
  destinations: readonly string[],
  overrides: ReadonlyMap<string, unknown>,
): Promise<string[]> {
  const rows = await sql<{ place: string }[]>`
    select p.place from unnest(${[...destinations]}::text[]) as p(place)
     where exists (select from delivery_queue q where q.worker_id is null and q.place is not null and q.place = p.place)`
  const parked = new Set(rows.map(({ place }) => place))
  return destinations.filter((destination) => parked.has(destination) || overrides.has(destination))
}

async function isSmartHost(sql: Sql, destination: string): Promise<boolean> {
  const name = smartHostOf(destination)
  return name !== undefined && (await sql`select 1 from smart_hosts where name = ${name}`).length > 0
}

/** Each with its strictest source: an override before the file, if they are equal. */
function limitsInEffect(sources: Parameters<typeof effectiveLimits>[0]): LimitInEffect[] {
  const { provider, overrides } = sources
  const { connections, messagesPerConnection, rate } = effectiveLimits(sources)
  const sourceOf = (setting: LimitSetting, is: (one: Override) => boolean): Pick<LimitInEffect, 'from' | 'until'> => {
    const override = overrides.find((one) => one.accountId === null && one.setting === setting && is(one))
    if (override) return { from: override.rule, until: override.until }
    const inFile = setting !== 'pause' && provider?.[setting] !== undefined
    return { from: inFile ? 'file' : 'default', until: null }
  }
  const pauses = overrides.filter(({ setting }) => setting === 'pause')
  const general = { accountId: null } as const
  return [
    ...pauses.map(
      ({ accountId, rule, until }): LimitInEffect => ({ setting: 'pause', value: null, accountId, from: rule, until }),
    ),
    ...(rate
      ? [
          {
            setting: 'rate' as const,
            value: rate,
            ...general,
            ...sourceOf('rate', ({ value, seconds }) => value === rate.messages && seconds === rate.seconds),
          },
        ]
      : []),
    {
      setting: 'connections',
      value: connections,
      ...general,
      ...sourceOf('connections', ({ value }) => value === connections),
    },
    {
      setting: 'messagesPerConnection',
      value: messagesPerConnection,
      ...general,
      ...sourceOf('messagesPerConnection', ({ value }) => value === messagesPerConnection),
    },
  ]
}

/** Finds the accounts by index probes, and counts at most 10,000 deliveries of each of their classes, 100,000 in all. */
async function countParkedAt(sql: Sql, destination: string): Promise<ParkedOf[]> {
  return sql.begin('isolation level repeatable read read only', async (snapshot) => {
    await readInOrder(snapshot, true)
    return snapshot<ParkedOf[]>`
      with recursive flow as (
        select (-1)::smallint as class, 0 as account_id, 0 as no
        union all
        select next.class, next.account_id, flow.no + 1 from flow cross join lateral (
          select class, account_id from delivery_queue
           where worker_id is null and place is not null and place = ${destination} and (class, account_id) > (flow.class, flow.account_id)
           order by class, account_id limit 1) next
         where flow.no < ${MAX_ACCOUNTS}
      ), share as materialized (
        select greatest(10, least(${MAX_COUNTED}, 10 * ${MAX_COUNTED} / greatest(count(*), 1)))::int as most from flow
      )
      select flow.account_id as "accountId", sum(least(one.count, share.most))::int as count, bool_or(one.count > share.most) as more
        from share cross join flow cross join lateral (
          select count(*) from (
            select from delivery_queue
             where worker_id is null and place is not null and place = ${destination} and class = flow.class and account_id = flow.account_id
             limit share.most + 1) counted) one
       where flow.no > 0 group by 1 order by 2 desc, 1`
  }) as Promise<ParkedOf[]>
}

function readSample(sql: Sql, destination: string): Promise<DestinationDetails['sample'][number][]> {
  return sql<DestinationDetails['sample'][number][]>`
    select replace(message_id::text, '-', '') as "messageId", recipient_no as "recipientNo", account_id as "accountId", recipient,
           attempt as attempts, waiting_for as "waitingFor", expires_at as "expiresAt"
      from delivery_queue where worker_id is null and place is not null and place = ${destination}
     order by place, class, account_id, next_at limit ${SAMPLE}`
}

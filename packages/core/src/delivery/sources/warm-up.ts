import { DAY, HOUR, type Rate } from '../../accounts/rate-limits/rate.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import { LIMITS_CHANNEL } from '../limits/overrides.ts'

interface Plan {
  /** Messages on the first day, and how many times as many on each following day. */
  readonly first: number
  readonly growth: number
  /** Days after which there is no limit. */
  readonly days: number
}

/** The plans by which a new source gets more mail day by day, at each provider. */
export const WARM_UP_PLANS = {
  standard: { first: 200, growth: 1.4, days: 30 },
  gentle: { first: 100, growth: 1.25, days: 45 },
} as const satisfies Record<string, Plan>

export type WarmUpPlan = keyof typeof WARM_UP_PLANS

export function isWarmUpPlan(text: string): text is WarmUpPlan {
  return Object.hasOwn(WARM_UP_PLANS, text)
}

/** All sites that belong to none of the providers. */
export const OTHER_PROVIDERS = '*'

/** How far the warm-up of a source at a provider is. */
export interface WarmUp {
  /** A provider, or {@link OTHER_PROVIDERS}. */
  readonly provider: string
  /** The day of the plan, from 0. */
  readonly day: number
  /** The allowance of this hour or day is used up. */
  readonly isSpent: boolean
}

/** Messages that may be offered on a day of a plan; undefined if the plan has ended. */
export function capOf(plan: WarmUpPlan, day: number): number | undefined {
  const { first, growth, days } = WARM_UP_PLANS[plan]
  return day >= days ? undefined : Math.floor(first * growth ** day)
}

/** The part of a day's messages that may be offered within an hour: three times as many as if they were spread evenly. */
const HOURLY_SHARE = 3 / 24

/** The allowances that each message of a source at a provider is taken from; none if the plan has ended there. */
export function warmUpRates({ sourceId, provider }: WarmUpKey, plan: WarmUpPlan, day: number): Rate[] {
  const cap = capOf(plan, day)
  if (cap === undefined) return []
  const of = `${sourceId} ${provider}`
  return [
    { name: `warm-up day ${of}`, what: 'messages of a new source per day', limit: cap, seconds: DAY },
    {
      name: `warm-up hour ${of}`,
      what: 'messages of a new source per hour',
      limit: Math.ceil(cap * HOURLY_SHARE),
      seconds: HOUR,
    },
  ]
}

/** A source at a provider. */
export interface WarmUpKey {
  readonly sourceId: number
  readonly provider: string
}

/** The allowance of the source is used up for this time. All workers learn of it at once. */
export async function noteSpent(sql: AnySql, { sourceId, provider }: WarmUpKey, seconds: number): Promise<void> {
  await sql`
    with noted as (
      insert into source_warm_ups as w (source_id, provider, began_on, spent_until)
      select id, ${provider}, ${today(sql)}, service_now() + make_interval(secs => ${seconds}) from sources where id = ${sourceId}
      on conflict (source_id, provider) do update set spent_until = excluded.spent_until
       where w.spent_until is null or w.spent_until < service_now()
      returning 1)
    select pg_notify(${LIMITS_CHANNEL}, '') from noted`
}

/** A back-off rule paused the source at the provider. */
export async function noteBlocked(sql: AnySql, { sourceId, provider }: WarmUpKey): Promise<void> {
  await sql`
    insert into source_warm_ups (source_id, provider, began_on, blocked_on)
    select id, ${provider}, ${today(sql)}, ${today(sql)} from sources where id = ${sourceId} and warm_up_plan is not null
    on conflict (source_id, provider) do update set blocked_on = excluded.blocked_on`
}

export interface SourceResults extends WarmUpKey {
  readonly tried: number
  readonly refused: number
  readonly bounced: number
}

/** Adds results of attempts to those of the day. */
export async function addResults(sql: AnySql, results: readonly SourceResults[]): Promise<void> {
  if (results.length === 0) return
  await sql`
    with result as materialized (
      select r.* from unnest(${results.map((r) => r.sourceId)}::int[], ${results.map((r) => r.provider)}::text[],
                             ${results.map((r) => r.tried)}::int[], ${results.map((r) => r.refused)}::int[],
                             ${results.map((r) => r.bounced)}::int[]) as r(source_id, provider, tried, refused, bounced)
        join sources s on s.id = r.source_id
       -- Every writer locks rows in the same order.
       order by r.source_id, r.provider
    ), begun as (
      insert into source_warm_ups (source_id, provider, began_on)
      select source_id, provider, ${today(sql)} from result on conflict do nothing
    )
    insert into source_results as s (source_id, provider, day, tried, refused, bounced)
    select source_id, provider, ${today(sql)}, tried, refused, bounced from result
    on conflict (source_id, provider, day) do update
       set tried = s.tried + excluded.tried, refused = s.refused + excluded.refused, bounced = s.bounced + excluded.bounced`
}

/** The share of the day's allowance from which the next day gets more, and of refusals and bounces from which it does not. */
const ADVANCE = { used: 0.5, refused: 0.05, bounced: 0.05 } as const
/** The share of refusals from which a plan steps back, if there are at least `of` messages. */
const STEP_BACK = { refused: 0.2, of: 20, days: 2 } as const
/** Days without mail after which a plan steps back: providers forget an address. */
const IDLE = { after: 30, days: 7 } as const
const RESULTS_KEPT_DAYS = 90

interface Standing extends WarmUpKey {
  readonly plan: WarmUpPlan
  readonly day: number
  readonly isBlocked: boolean
  /** Days since mail was last sent; null if none was. */
  readonly idle: number | null
  readonly tried: number
  readonly refused: number
  readonly bounced: number
}

/**
 * Moves the warm-ups whose day has ended to the next day of their plan, back, or leaves them where they are, by the results of the day that
 * ended. Returns how many were changed. Any worker may call it at any time.
 */
export async function advanceWarmUps(sql: Sql): Promise<number> {
  return sql.begin(advance) as Promise<number>
}

async function advance(sql: AnySql): Promise<number> {
  const ended = await sql<Standing[]>`
    select w.source_id as "sourceId", w.provider, s.warm_up_plan as plan, w.day, w.blocked_on >= w.began_on as "isBlocked",
           ${today(sql)} - (select max(day) from source_results r where r.source_id = w.source_id and r.provider = w.provider) as idle,
           coalesce(r.tried, 0) as tried, coalesce(r.refused, 0) as refused, coalesce(r.bounced, 0) as bounced
      from source_warm_ups w join sources s on s.id = w.source_id
      left join source_results r on r.source_id = w.source_id and r.provider = w.provider and r.day = w.began_on
     where w.began_on < ${today(sql)} and s.warm_up_plan is not null
     order by 1, 2 limit 1000 for update of w skip locked`
  if (ended.length === 0) return 0
  await sql`
    update source_warm_ups w set day = n.day, began_on = ${today(sql)}, spent_until = null
      from unnest(${ended.map(({ sourceId }) => sourceId)}::int[], ${ended.map(({ provider }) => provider)}::text[],
                  ${ended.map(nextDay)}::int[]) as n(source_id, provider, day)
     where w.source_id = n.source_id and w.provider = n.provider`
  await sql`delete from source_results where day < ${today(sql)} - ${RESULTS_KEPT_DAYS}::int`
  await sql`select pg_notify(${LIMITS_CHANNEL}, '')`
  return ended.length
}

function nextDay({ plan, day, isBlocked, idle, tried, refused, bounced }: Standing): number {
  const cap = capOf(plan, day)
  if (isBlocked || (tried >= STEP_BACK.of && refused >= tried * STEP_BACK.refused))
    return Math.max(0, day - STEP_BACK.days)
  // Once per idle month.
  if (idle !== null && idle > 0 && idle % IDLE.after === 0) return Math.max(0, day - IDLE.days)
  if (cap === undefined || tried < cap * ADVANCE.used) return day
  return refused < tried * ADVANCE.refused && bounced < tried * ADVANCE.bounced ? day + 1 : day
}

/** The current day, as limits of a day count it: UTC. */
function today(sql: AnySql): ReturnType<AnySql> {
  return sql`(service_now() at time zone 'UTC')::date`
}

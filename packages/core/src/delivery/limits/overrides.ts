import type { AnySql, Sql } from '../../platform/database/database.ts'
import { partsOfDestination } from './destination-names.ts'
import { keepIfEnded, keepPastLimits } from './past-limits.ts'

/** The notification channel that tells workers to read the overrides again. */
export const LIMITS_CHANNEL = 'postrider_limits'

export type LimitSetting = 'pause' | 'rate' | 'connections' | 'messagesPerConnection'

/** A limit of a destination beyond those of the providers' file. */
export interface Override {
  readonly id: string
  readonly place: string
  /** Null if it applies to the mail of all accounts. */
  readonly accountId: number | null
  readonly setting: LimitSetting
  /** The limit; of a rate, messages per `seconds`. Null for a pause. */
  readonly value: number | null
  readonly seconds: number | null
  /** The id of the back-off rule, `adaptive`, `refused` or `operator`. */
  readonly rule: string
  /** The reply that caused it, or the operator's reason. */
  readonly reason: string
  readonly since: Date
  readonly until: Date
  /** Milliseconds until it ends. */
  readonly left: number
  /** Whether one delivery may be tried during the pause, or the adaptive limit be raised. */
  readonly stepDue: boolean
}

export interface NewOverride
  extends Pick<Override, 'place' | 'accountId' | 'setting' | 'value' | 'seconds' | 'rule' | 'reason'> {
  /** Seconds that it lasts. */
  readonly lasts: number
}

/** The rules of limits that follow from how much is refused for now and for the sender, and of those that the operator sets. */
export const ADAPTIVE_RULE = 'adaptive'
export const REFUSED_RULE = 'refused'
export const OPERATOR_RULE = 'operator'
/** Seconds between two deliveries that are tried during a pause, and between two raises of an adaptive limit. */
const STEP_SECONDS = 300
const STEP = `${STEP_SECONDS} seconds`
const MAX_STEP = '30 minutes'
/** Seconds from which a pause is probed. */
const PROBED_FROM_SECONDS = 1800
/**
 * Maximum number of overrides that workers read, once per second. Only sites can have more, whose owners make the replies; the destinations that
 * are read first have theirs in any case.
 */
const MAX_READ = 3000

/** Returns the overrides in effect: those of the places in `first`, those of the operator, then the latest of all others. */
export async function readOverrides(sql: AnySql, first: readonly string[] = []): Promise<Override[]> {
  return sql<Override[]>`
    select id::text, place, account_id as "accountId", setting, value, case when setting = 'rate' then seconds end as seconds, rule, reason, since, until,
           extract(epoch from until - service_now())::float8 * 1000 as left, coalesce(step_at <= service_now(), false) as "stepDue"
      from limit_overrides where until > service_now()
     order by place = any(${[...first]}::text[]) desc, rule = ${OPERATOR_RULE} desc, id desc limit ${MAX_READ}`
}

/**
 * Returns the overrides of a destination: its own, and those that the operator has set for the provider or site with all its sources. What a
 * back-off rule has set applies to the source that the provider has refused.
 */
export function overridesFor(
  destination: string,
  byDestination: ReadonlyMap<string, readonly Override[]>,
): readonly Override[] {
  const own = byDestination.get(destination) ?? []
  const { base, source } = partsOfDestination(destination)
  if (source === undefined) return own
  return [...own, ...(byDestination.get(base) ?? []).filter(({ rule }) => rule === OPERATOR_RULE)]
}

/** The condition that an override `o` concerns a destination; see {@link overridesFor}. */
export function concernsDestination(
  sql: AnySql,
  o: ReturnType<AnySql>,
  destination: ReturnType<AnySql>,
): ReturnType<AnySql> {
  return sql`(${o}.place = ${destination} or ${o}.rule = ${OPERATOR_RULE} and starts_with(${destination}, ${o}.place || '@'))`
}

/** A pause in effect, with whether one delivery is tried from time to time. */
export interface Pause extends Pick<Override, 'place' | 'accountId' | 'rule' | 'reason' | 'since' | 'until'> {
  readonly isProbed: boolean
}

/** Returns the pause of each of these destinations that holds mail of the account longest. */
export async function pausesOf(
  sql: AnySql,
  accountId: number,
  destinations: readonly string[],
): Promise<Map<string, Pause>> {
  const pauses = await sql<Pause[]>`
    select distinct on (p.place) p.place, o.account_id as "accountId", o.rule, o.reason, o.since, o.until, o.step_at is not null as "isProbed"
      from unnest(${[...destinations]}::text[]) as p(place) join limit_overrides o on ${concernsDestination(sql, sql`o`, sql`p.place`)}
     where o.setting = 'pause' and o.until > service_now() and (o.account_id is null or o.account_id = ${accountId}::int)
     order by p.place, o.until desc`
  return new Map(pauses.map((pause) => [pause.place, pause]))
}

/** Sets an override, or prolongs it if the same rule has set it before. All workers learn of it at once. */
export async function setOverride(sql: AnySql, override: NewOverride): Promise<void> {
  const { place, accountId, setting, value, seconds, rule, reason, lasts } = override
  // With `scope: account`, a rule is about a limit of the account, which ends with its time.
  const isProbed =
    setting === 'pause' &&
    rule !== OPERATOR_RULE &&
    lasts >= PROBED_FROM_SECONDS &&
    (accountId === null || rule === REFUSED_RULE)
  const isStepped = rule === ADAPTIVE_RULE || isProbed
  await sql`
    with ${keepIfEnded(sql, override)}, written as (
      insert into limit_overrides as o (place, account_id, setting, value, seconds, rule, reason, since, until, step_at)
      select ${place}, ${accountId}::int, ${setting}, ${value}::int, ${seconds}::int, ${rule}, ${reason}, service_now(),
             service_now() + make_interval(secs => ${lasts}),
             case when ${String(isStepped)}::text::boolean then service_now() + make_interval(secs => ${STEP_SECONDS}) end
      on conflict (place, account_id, setting, rule) do update
         set value = excluded.value, seconds = excluded.seconds, reason = excluded.reason,
             since = case when o.until > service_now() then o.since else excluded.since end,
             until = greatest(o.until, excluded.until),
             step_at = case when o.until > service_now() then o.step_at else excluded.step_at end
      returning 1
    )
    select pg_notify(${LIMITS_CHANNEL}, '') from written`
}

/**
 * Lets one worker try one delivery during the pauses of a destination. Returns whose mail this one may try: of all accounts (null), or of these. Where
 * most mail is refused for its sender, the next one is tried after 5 minutes, then after 10, 20 and 30: each may bounce.
 */
export async function takeProbe(sql: AnySql, destination: string): Promise<(number | null)[]> {
  const rows = await sql<{ accountId: number | null }[]>`
    update limit_overrides
       set step_at = service_now() + case when rule = ${REFUSED_RULE}
                                     then least(service_now() - since + ${STEP}::text::interval, ${MAX_STEP}::text::interval)
                                     else ${STEP}::text::interval end
     where place = ${destination} and setting = 'pause' and step_at <= service_now() and until > service_now()
    returning account_id as "accountId"`
  return rows.map(({ accountId }) => accountId)
}

/** Raises the adaptive rates whose time it is by a quarter, unless mail was refused since the last time; at most 1000 of them. */
export async function raiseRates(sql: AnySql): Promise<void> {
  await sql`
    update limit_overrides o
       set step_at = service_now() + make_interval(secs => ${STEP_SECONDS}),
           value = case when exists (select from rule_hits h
                                      where h.place = o.place and h.rule = ${ADAPTIVE_RULE} and h.account_id = 0
                                        and h.minute > service_now() - make_interval(secs => ${STEP_SECONDS}))
                        then value else ceil(value * 1.25) end
     where id in (select id from limit_overrides
                   where rule = ${ADAPTIVE_RULE} and setting = 'rate' and step_at <= service_now() and until > service_now()
                   limit 1000 for update skip locked)`
}

/**
 * Ends the pauses of a destination that rules have set, of all mail and of the account whose delivery was tried. Where most mail is refused for its
 * sender, only one that was taken shows that it no longer is: others may be refused before the sender is looked at.
 */
export async function endPauses(
  sql: AnySql,
  destination: string,
  { accountId, isTaken }: { readonly accountId: number; readonly isTaken: boolean },
): Promise<void> {
  await sql`
    with deleted as (
      delete from limit_overrides
       where place = ${destination} and setting = 'pause' and step_at is not null and (account_id is null or account_id = ${accountId})
         ${isTaken ? sql`` : sql`and rule <> ${REFUSED_RULE}`}
      returning *
    ), kept as (
      ${keepPastLimits(sql, sql`deleted`)}
    )
    select pg_notify(${LIMITS_CHANNEL}, '') from deleted limit 1`
}

/** Deletes overrides that have ended. Returns how many. */
export async function forgetOverrides(sql: Sql): Promise<number> {
  const [deleted] = await sql<{ count: number }[]>`
    with deleted as (
      delete from limit_overrides where until < service_now() - interval '1 hour' returning *
    ), kept as (
      ${keepPastLimits(sql, sql`deleted`)}
    )
    select count(*)::int as count from deleted`
  return deleted?.count ?? 0
}

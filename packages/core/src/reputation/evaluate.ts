import { type ClassName, DELIVERY_CLASSES } from '../accounts/mail-class.ts'
import { LIMITS_CHANNEL } from '../delivery/limits/overrides.ts'
import { keepPastHolds } from '../delivery/limits/past-limits.ts'
import type { HoldLevel } from '../delivery/queue/account-holds.ts'
import { onlyRow, type Sql, type SqlTransaction } from '../platform/database/database.ts'
import { lockAccount, noteStanding } from './account-change.ts'
import { type Figures, figuresOf, type HourCounts, minus } from './figures.ts'
import {
  applyRecoveryRules,
  applyRules,
  type Evaluated,
  HOLD_RULES,
  type HoldRule,
  isStricter,
  MIN,
  type ReputationRules,
  type Verdict,
} from './rules.ts'

/** Accounts per round. */
const BATCH = 50
/** Hours of good figures after which a hold ends. */
const RECOVERY_HOURS = 24
/** Holds that end by hand only: what caused them is known only to the account's owner. */
const BY_HAND: ReadonlySet<string> = new Set(['unknown-recipients held', 'complaints held'])

/** A change of an account's standing. */
export interface StandingChange {
  readonly accountId: number
  readonly rule: HoldRule
  readonly before: HoldLevel | 'good'
  readonly after: HoldLevel | 'good'
  /** The classes that are slowed or held from now on. */
  readonly classes: readonly ClassName[]
  readonly figures: Readonly<Record<string, number>>
}

export interface EvaluateDependencies {
  readonly sql: Sql
  /** The rules of accounts that have none of their own. */
  readonly defaultRules: ReputationRules
}

/**
 * Evaluates some accounts whose counts have changed or whose holds are due to be looked at again, each in one transaction with all that follows:
 * holds and events. Returns the changes, and whether there may be more accounts. Any number of workers may do so at once.
 */
export async function evaluateSome({ sql, defaultRules }: EvaluateDependencies): Promise<{
  readonly changes: readonly StandingChange[]
  readonly more: boolean
}> {
  const due = await sql<{ accountId: number }[]>`
    (select account_id as "accountId" from reputation_due limit ${BATCH})
    union
    (select account_id from account_holds where check_at <= service_now() limit ${BATCH})`
  const changes: StandingChange[] = []
  const failures: unknown[] = []
  for (const { accountId } of due) {
    const evaluated = sql.begin(async (transaction) => {
      await lockAccount(transaction, accountId)
      const isDue = await takeDue(transaction, accountId)
      return isDue ? evaluate(transaction, accountId, defaultRules) : []
    }) as Promise<StandingChange[]>
    // One account must not keep those after it from being evaluated.
    await evaluated.then(
      (own) => changes.push(...own),
      (error: unknown) => failures.push(error),
    )
  }
  if (failures.length > 0 && changes.length === 0) throw failures[0]
  return { changes, more: due.length >= BATCH && failures.length === 0 }
}

/** Returns whether the account is still to be evaluated, by this worker. What is counted from now on makes it due again. */
async function takeDue(sql: SqlTransaction, accountId: number): Promise<boolean> {
  const { count } = await sql`
    delete from reputation_due where account_id in (
      select account_id from reputation_due where account_id = ${accountId} for update skip locked)`
  if (count > 0) return true
  const [hold] = await sql`
    select 1 from account_holds where account_id = ${accountId} and check_at <= service_now() limit 1 for update skip locked`
  return hold !== undefined
}

interface Account {
  readonly rules: ReputationRules | null
  readonly since: Date | null
  readonly base: HourCounts | null
  readonly now: Date
}

interface Hold {
  readonly rule: HoldRule
  readonly level: HoldLevel
  readonly classes: readonly number[]
  readonly rate: number | null
  readonly hours: number
  readonly goodHours: number | null
  readonly hasEnded: boolean
}

async function evaluate(
  sql: SqlTransaction,
  accountId: number,
  defaultRules: ReputationRules,
): Promise<StandingChange[]> {
  const [account] = await sql<Account[]>`
    select r.rules, r.since, r.base, service_now() as now from accounts a left join account_reputation r on r.account_id = a.id
     where a.id = ${accountId}`
  if (!account) return []
  const holds = await selectHolds(sql, accountId)
  const figures = figuresOf(await selectHours(sql, accountId, account), account.now)
  const evaluated: Evaluated = {
    figures,
    rules: account.rules ?? defaultRules,
    complaints: await complaintsOf(sql, accountId, figures),
    deferrals: await deferralsOf(sql, accountId, account),
    isBulkHeld: holds.some(({ rule, level, hours }) => rule === 'bounces' && level === 'held' && hours >= 1),
  }
  const changes: StandingChange[] = []
  const [verdicts, lasting] = [applyRules(evaluated), applyRecoveryRules(evaluated)]
  for (const rule of HOLD_RULES) {
    const hold = holds.find((one) => one.rule === rule)
    const verdict = verdicts.find((one) => one.rule === rule)
    const isGood = !verdict && !lasting.some((one) => one.rule === rule)
    const after = await change(sql, accountId, { rule, hold, verdict, isGood, onlyWarns: evaluated.rules === 'none' })
    if (after === undefined) continue
    const classes = (verdict?.classes ?? []).map((of) => DELIVERY_CLASSES[of])
    changes.push({ accountId, rule, before: hold?.level ?? 'good', after, classes, figures: verdict?.figures ?? {} })
  }
  for (const { rule, before, after, figures, classes } of changes) {
    const found = {
      ...(classes.length > 0 ? { classes } : {}),
      ...(Object.keys(figures).length > 0 ? { figures } : {}),
    }
    await noteStanding(sql, accountId, { rule, before, after, ...found })
  }
  if (changes.length > 0) await sql`select pg_notify(${LIMITS_CHANNEL}, '')`
  return changes
}

async function selectHolds(sql: SqlTransaction, accountId: number): Promise<Hold[]> {
  return sql<Hold[]>`
    select rule, level, classes, rate, extract(epoch from service_now() - since)::float8 / 3600 as hours,
           extract(epoch from service_now() - good_since)::float8 / 3600 as "goodHours",
           coalesce(until <= service_now(), false) as "hasEnded"
      from account_holds where account_id = ${accountId} and rule = any(${[...HOLD_RULES]}::text[])`
}

async function selectHours(sql: SqlTransaction, accountId: number, { since, base }: Account): Promise<HourCounts[]> {
  const rows = await sql<HourCounts[]>`
    select hour, accepted, delivered, hard, complained from account_counts
     where account_id = ${accountId} and hour > service_now() - interval '30 days'
       and hour >= coalesce(date_trunc('hour', ${since?.toISOString() ?? null}::text::timestamptz, 'UTC'), '-infinity')
     order by hour desc`
  const last = rows.at(-1)
  if (!base || !last || last.hour.getTime() !== Date.parse(String(base.hour))) return rows
  return [...rows.slice(0, -1), { hour: last.hour, ...minus(last, base) }]
}

/**
 * Complaints of the providers that have reported some to this installation within 30 days, and deliveries to them: the others never do. Nor is
 * it known which of the small ones do.
 */
async function complaintsOf(
  sql: SqlTransaction,
  accountId: number,
  { recent }: Figures,
): Promise<Evaluated['complaints']> {
  if (recent.complained < MIN.complaints) return undefined
  return onlyRow(
    await sql<{ complained: number; delivered: number }[]>`
      select coalesce(sum(complained), 0)::int as complained, coalesce(sum(delivered), 0)::int as delivered from delivery_counts
       where account_id = ${accountId} and hour >= ${recent.since.toISOString()}::text::timestamptz
         and provider in (select provider from delivery_counts
                           where complained > 0 and provider <> '' and hour > service_now() - interval '30 days')`,
  )
}

/** Attempts at providers with many deferrals because of a filter or policy, in the hours that began after the last release. */
async function deferralsOf(
  sql: SqlTransaction,
  accountId: number,
  { since }: Account,
): Promise<Evaluated['deferrals']> {
  return sql<Evaluated['deferrals'][number][]>`
    select provider, sum(attempts)::int as attempts, sum(blocked_deferred)::int as deferred from provider_counts
     where account_id = ${accountId} and hour > service_now() - interval '24 hours'
       and hour >= coalesce(${since?.toISOString() ?? null}::text::timestamptz, '-infinity')
     group by provider having sum(blocked_deferred) >= ${MIN.deferrals} order by provider`
}

interface Change {
  readonly rule: HoldRule
  readonly hold: Hold | undefined
  readonly verdict: Verdict | undefined
  /** The figures are below half of the lowest limit. */
  readonly isGood: boolean
  /** The rules of the account hold and slow nothing. */
  readonly onlyWarns: boolean
}

/** Writes what has changed of one hold. Returns the level after it; undefined if that is the same as before. */
async function change(
  sql: SqlTransaction,
  accountId: number,
  { rule, hold, verdict, isGood, onlyWarns }: Change,
): Promise<HoldLevel | 'good' | undefined> {
  if (onlyWarns && hold && hold.level !== 'warned') {
    await deleteHold(sql, accountId, rule)
    if (verdict) await insertHold(sql, accountId, verdict)
    return verdict?.level ?? 'good'
  }
  const isWider = verdict && hold && verdict.level === hold.level && verdict.classes.length > hold.classes.length
  if (verdict && (isWider || isStricter(verdict.level, hold?.level))) {
    await insertHold(sql, accountId, verdict)
    return verdict.level
  }
  if (!hold) return undefined
  const endsByItself = !BY_HAND.has(`${rule} ${hold.level}`)
  if (endsByItself && (hold.hasEnded || (isGood && (hold.goodHours ?? 0) >= RECOVERY_HOURS))) {
    await deleteHold(sql, accountId, rule)
    return 'good'
  }
  await sql`
    update account_holds
       set good_since = case when ${String(isGood)}::text::boolean then coalesce(good_since, service_now()) end,
           check_at = service_now() + interval '1 hour'
     where account_id = ${accountId} and rule = ${rule}`
  return undefined
}

async function deleteHold(sql: SqlTransaction, accountId: number, rule: HoldRule): Promise<void> {
  await sql`
    with deleted as (delete from account_holds where account_id = ${accountId} and rule = ${rule} returning *)
    ${keepPastHolds(sql, sql`deleted`)}`
}

/** A hold because of sudden volume ends after a day: if the volume stays, it is the usual one. */
async function insertHold(sql: SqlTransaction, accountId: number, { rule, level, classes, rate, figures }: Verdict) {
  await sql`
    insert into account_holds as h (account_id, rule, level, classes, rate, figures, since, until, check_at)
    values (${accountId}, ${rule}, ${level}, ${[...classes]}::smallint[], ${rate}, ${JSON.stringify(figures)}::text::jsonb, service_now(),
            ${rule === 'sudden-volume' ? sql`service_now() + interval '1 day'` : sql`null`}, service_now() + interval '1 hour')
    on conflict (account_id, rule) do update
       set level = excluded.level, classes = excluded.classes,
           -- Mail that was slowed already is not slowed further: its rate is half of that of before.
           rate = case when excluded.rate is null then null else coalesce(h.rate, excluded.rate) end, figures = excluded.figures, since = excluded.since,
           until = excluded.until, good_since = null, check_at = excluded.check_at`
}

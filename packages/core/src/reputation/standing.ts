import type { RequirementMode } from '../accounts/account-settings.ts'
import type { Actor } from '../accounts/audit/index.ts'
import { noteOperatorChange } from '../accounts/audit/note-operator-change.ts'
import { DELIVERY_CLASSES, type DeliveryClass } from '../accounts/mail-class.ts'
import { LIMITS_CHANNEL, OPERATOR_RULE } from '../delivery/limits/overrides.ts'
import { keepPastHolds } from '../delivery/limits/past-limits.ts'
import { HELD_RECIPIENT_PLACE, type HoldLevel } from '../delivery/queue/account-holds.ts'
import { dropQueued } from '../delivery/queue/drop-queued.ts'
import { requireAccount } from '../delivery/require-account.ts'
import { type AnySql, onlyRow, type Sql, type SqlTransaction } from '../platform/database/database.ts'
import { invalidParameter } from '../platform/errors.ts'
import { lockAccount, noteStanding } from './account-change.ts'
import { domainHolds, REPEATED_RECIPIENT, recipientHolds } from './other-holds.ts'
import { limitsOf, REPUTATION_RULES, type ReputationRules } from './rules.ts'

/** Why mail of an account is slowed or held, or its owner was warned. */
export interface ShownHold {
  /** A rule of rules.ts, `repeated-recipient`, `requirements` or `operator`. */
  readonly rule: string
  readonly level: HoldLevel
  readonly classes: readonly (typeof DELIVERY_CLASSES)[number][]
  /** Messages per hour, if it is slowed. */
  readonly rate: number | null
  readonly figures: Readonly<Record<string, number>>
  /** The operator's reason. */
  readonly reason: string | null
  readonly since: Date
  /** When it ends by itself at the latest; null if that is not known. */
  readonly until: Date | null
  /** The shares from which the rule warns, slows and holds; undefined for rules without. */
  readonly limits?: Readonly<Partial<Record<HoldLevel, number>>> | undefined
}

export interface AccountStanding {
  readonly accountId: number
  readonly rules: ReputationRules
  /** Whether the account has rules of its own. */
  readonly hasOwnRules: boolean
  /** The counts before this time do not matter: the account was released then. */
  readonly since: Date | null
  readonly holds: readonly ShownHold[]
  /** The counts of the last 24 hours. */
  readonly day: {
    readonly accepted: number
    readonly delivered: number
    readonly hard: number
    readonly soft: number
    readonly complained: number
  }
}

const MAX_REASON = 1000
/** Accounts with holds that are listed. */
const MAX_LISTED = 1000
/** Deliveries dropped at once. */
const CHUNK = 1000

const holdColumns = (sql: Sql) => sql`
  rule, level, array(select (${[...DELIVERY_CLASSES]}::text[])[class + 1] from unnest(classes) class order by class) as classes, rate, figures,
  reason, since, until`

export interface StandingDefaults {
  readonly reputationRules: ReputationRules
  readonly requirements: RequirementMode
}

/** Returns the standing of an account. Throws parameterInvalid (account). */
export async function showStanding(
  sql: Sql,
  accountId: number,
  { reputationRules, requirements }: StandingDefaults,
): Promise<AccountStanding> {
  await requireAccount(sql, accountId)
  const own = onlyRow(
    await sql<{ rules: ReputationRules | null; since: Date | null }[]>`
      select r.rules, r.since from (select ${accountId}::int as id) a left join account_reputation r on r.account_id = a.id`,
  )
  const holds = await sql<ShownHold[]>`
    select * from (
      select ${holdColumns(sql)} from account_holds where account_id = ${accountId} and (until is null or until > service_now())
      union all
      ${recipientHolds(sql, sql`account_id = ${accountId}`)}
      union all
      ${domainHolds(sql, requirements, sql`d.account_id = ${accountId}`)}) h
     order by since`
  const day = onlyRow(
    await sql<AccountStanding['day'][]>`
      select coalesce(sum(accepted), 0)::int as accepted, coalesce(sum(delivered), 0)::int as delivered, coalesce(sum(hard), 0)::int as hard,
             coalesce(sum(soft), 0)::int as soft, coalesce(sum(complained), 0)::int as complained
        from account_counts where account_id = ${accountId} and hour > service_now() - interval '24 hours'`,
  )
  return {
    accountId,
    rules: own.rules ?? reputationRules,
    hasOwnRules: own.rules !== null,
    since: own.since,
    holds: holds.map((hold) => ({ ...hold, limits: limitsOf(hold.rule, own.rules ?? reputationRules) })),
    day,
  }
}

/** Returns all holds and warnings, the latest first; at most 1000. */
export async function listHolds(
  sql: Sql,
  { requirements, reputationRules }: StandingDefaults,
): Promise<(ShownHold & { readonly accountId: number })[]> {
  const rows = await sql<(ShownHold & { accountId: number; rules: ReputationRules | null })[]>`
    select h.*, r.rules from (
      select account_id as "accountId", ${holdColumns(sql)} from account_holds where until is null or until > service_now()
      union all
      ${recipientHolds(sql, sql`true`, sql`account_id,`)}
      union all
      ${domainHolds(sql, requirements, sql`true`, sql`d.account_id,`)}) h
      left join account_reputation r on r.account_id = h."accountId"
     order by h.since desc, "accountId" limit ${MAX_LISTED}`
  return rows.map(({ rules, ...hold }) => ({ ...hold, limits: limitsOf(hold.rule, rules ?? reputationRules) }))
}

/** Sets the rules of an account; null: those of the installation. Throws parameterInvalid (account, rules). */
export async function setRules(
  sql: Sql,
  accountId: number,
  { rules, by }: { readonly rules: string | null; readonly by: Actor },
): Promise<void> {
  if (rules !== null && !REPUTATION_RULES.some((one) => one === rules)) {
    throw invalidParameter('rules', `must be ${REPUTATION_RULES.join(', ')} or default`)
  }
  await requireAccount(sql, accountId)
  await sql.begin(async (transaction) => {
    await lockAccount(transaction, accountId)
    const [before] = await transaction<{ rules: string | null }[]>`
      select rules from account_reputation where account_id = ${accountId}`
    await transaction`
      insert into account_reputation (account_id, rules) values (${accountId}, ${rules})
      on conflict (account_id) do update set rules = excluded.rules`
    await noteOperatorChange(transaction, {
      ...changeOf(accountId, by, 'account.rules'),
      before: { rules: before?.rules ?? null },
      after: { rules },
    })
    await transaction`insert into reputation_due (account_id) values (${accountId}) on conflict do nothing`
  })
}

export interface NewHold {
  readonly accountId: number
  readonly classes: readonly DeliveryClass[]
  readonly reason: string
}

/** Holds mail of an account until it is released: it is accepted and waits. Throws parameterInvalid (account, reason). */
export async function holdAccount(sql: Sql, { accountId, classes, reason }: NewHold, by: Actor): Promise<void> {
  if (reason.trim() === '' || reason.length > MAX_REASON) {
    throw invalidParameter('reason', `must have 1 to ${MAX_REASON} characters`)
  }
  await requireAccount(sql, accountId)
  await sql.begin(async (transaction) => {
    await lockAccount(transaction, accountId)
    const [before] = await transaction<{ classes: DeliveryClass[] }[]>`
      select classes from account_holds where account_id = ${accountId} and rule = ${OPERATOR_RULE}`
    // A class that is held already stays so.
    const all = DELIVERY_CLASSES.flatMap((_name, of) =>
      [...classes, ...(before?.classes ?? [])].some((one) => one === of) ? [of] : [],
    )
    await transaction`
      insert into account_holds (account_id, rule, level, classes, figures, reason, since, check_at)
      values (${accountId}, ${OPERATOR_RULE}, 'held', ${all}::smallint[], '{}', ${reason}, service_now(), 'infinity')
      on conflict (account_id, rule) do update set classes = excluded.classes, reason = excluded.reason`
    const names = DELIVERY_CLASSES.filter((_name, of) => all.includes(of))
    await noteOperatorChange(transaction, {
      ...changeOf(accountId, by, 'account.hold'),
      after: { classes: names, reason },
    })
    // Also if it becomes wider.
    if (all.length !== (before?.classes.length ?? 0)) {
      const was = before ? 'held' : 'good'
      await noteStanding(transaction, accountId, { rule: OPERATOR_RULE, before: was, after: 'held', classes: names })
    }
    await transaction`select pg_notify(${LIMITS_CHANNEL}, '')`
  })
}

/**
 * Ends all holds and warnings of an account. What was counted until now no longer matters, so that the same figures do not hold its mail again.
 * Returns the rules whose holds have ended. Throws parameterInvalid (account).
 */
export async function releaseAccount(sql: Sql, accountId: number, by: Actor): Promise<string[]> {
  await requireAccount(sql, accountId)
  return sql.begin((transaction) => release(transaction, accountId, by)) as Promise<string[]>
}

async function release(sql: SqlTransaction, accountId: number, by: Actor): Promise<string[]> {
  await lockAccount(sql, accountId)
  const ended = await sql<{ rule: string; level: HoldLevel }[]>`
    with deleted as (
      delete from account_holds where account_id = ${accountId} returning *
    ), kept as (
      ${keepPastHolds(sql, sql`deleted`)}
    )
    select rule, level from deleted`
  const recipients = await sql`delete from recipient_holds where account_id = ${accountId} and until > service_now()`
  if (ended.length + recipients.count === 0) return []
  await sql`
    insert into account_reputation (account_id, since, base)
    select ${accountId}, service_now(), (
      select to_jsonb(c) - 'account_id' - 'soft' - 'deferred' from account_counts c
       where account_id = ${accountId} and hour = date_trunc('hour', service_now(), 'UTC'))
    on conflict (account_id) do update set since = excluded.since, base = excluded.base`
  for (const { rule, level } of ended) await noteStanding(sql, accountId, { rule, before: level, after: 'good' })
  const rules = [...ended.map(({ rule }) => rule), ...(recipients.count > 0 ? [REPEATED_RECIPIENT] : [])]
  await noteOperatorChange(sql, { ...changeOf(accountId, by, 'account.release'), before: { rules } })
  await sql`select pg_notify(${LIMITS_CHANNEL}, '')`
  return rules
}

export interface Purged {
  readonly dropped: number
  readonly rules: readonly string[]
}

/**
 * Drops the waiting mail of the classes and recipients that are held, each delivery with its event, and then releases the account. Kept are scheduled
 * mail, what the operator holds or was set aside, and mail accepted meanwhile. `onProgress` is called with the number dropped until then. Throws
 * parameterInvalid (account).
 */
export async function purgeAccount(
  sql: Sql,
  accountId: number,
  { by, onProgress }: { readonly by: Actor; readonly onProgress?: ((dropped: number) => void) | undefined },
): Promise<Purged> {
  await requireAccount(sql, accountId)
  const { end } = onlyRow(
    await sql<{ end: string }[]>`select uuidv7_floor(service_now() + interval '1 millisecond')::text as end`,
  )
  const held = await sql<{ class: DeliveryClass }[]>`
    select distinct unnest(classes)::int as class from account_holds where account_id = ${accountId} and level = 'held'`
  const isOwn = sql`worker_id is null and account_id = ${accountId} and message_id < ${end}::uuid`
  // In the order of an index of the account's own mail: the planner would otherwise read that of all.
  const chunks = [
    ...held.map(
      (row) => sql`
        select message_id, recipient_no from delivery_queue
         where ${isOwn} and class = ${row.class}::smallint and state <> 'scheduled' and set_aside is null and waiting_for is distinct from 'hold'
         order by next_at limit ${CHUNK}`,
    ),
    ...DELIVERY_CLASSES.map(
      (_name, of) => sql`
        select message_id, recipient_no from delivery_queue
         where ${isOwn} and class = ${of}::smallint and place = ${HELD_RECIPIENT_PLACE}
         order by next_at limit ${CHUNK}`,
    ),
  ]
  let dropped = 0
  for (const chunk of chunks) {
    for (let count = CHUNK; count === CHUNK; ) {
      const where: ReturnType<AnySql> = sql`(q.message_id, q.recipient_no) in (${chunk})`
      count = (await (dropQueued(sql, where) as PromiseLike<readonly unknown[]>)).length
      dropped += count
      if (count > 0) onProgress?.(dropped)
    }
  }
  const rules = await sql.begin(async (transaction) => {
    await lockAccount(transaction, accountId)
    await noteOperatorChange(transaction, {
      ...changeOf(accountId, by, 'account.purge'),
      after: { deliveries: dropped },
    })
    return release(transaction, accountId, by)
  })
  return { dropped, rules: rules as string[] }
}

function changeOf(accountId: number, by: Actor, action: string) {
  return { accountId, by, action, object: `account ${accountId}` }
}

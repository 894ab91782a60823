import type { Actor } from '../../accounts/audit/index.ts'
import { noteOperatorChange } from '../../accounts/audit/note-operator-change.ts'
import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { isAtDestination } from '../limits/destination-names.ts'
import { LIMITS_CHANNEL, OPERATOR_RULE, setOverride } from '../limits/overrides.ts'
import { keepPastLimits } from '../limits/past-limits.ts'
import { requireAccount } from '../require-account.ts'

export interface PauseTarget {
  readonly place: string
  /** Null if it concerns the mail of all accounts. */
  readonly accountId: number | null
}

export interface NewPause extends PauseTarget {
  readonly seconds: number
  readonly reason: string
}

/** A pause of the operator that was in effect until another one replaced it. */
export interface ReplacedPause {
  readonly reason: string
  readonly since: Date
  /** When it would have ended. */
  readonly until: Date
}

/** The result of setting a pause. */
export interface SetPause {
  /** When it ends. */
  readonly until: Date
  readonly replaced: ReplacedPause | null
}

export interface PauseResult extends PauseTarget, SetPause {
  /** Whether the destination is a provider, or a site with waiting mail. */
  readonly known: boolean
}

export const PAUSE_SECONDS = { usual: 24 * 3600, most: 30 * 24 * 3600 } as const
const MAX_LENGTH = { place: 300, reason: 1000 } as const

/**
 * Pauses a destination for all mail or for that of one account. Workers offer nothing there from then on; deliveries in flight end as usual. A pause
 * replaces one that the operator has set before, also if it is shorter, and the result says which: it may be that of another operator.
 *
 * Throws parameterInvalid (destination, reason, for, account).
 */
export async function pauseDestination(sql: Sql, pause: NewPause, by: Actor): Promise<SetPause> {
  const { place, accountId, seconds, reason } = pause
  if (place === '' || place.length > MAX_LENGTH.place) throw invalidParameter('place', 'must have 1 to 300 characters')
  if (reason.trim() === '' || reason.length > MAX_LENGTH.reason) {
    throw invalidParameter('reason', `must have 1 to ${MAX_LENGTH.reason} characters`)
  }
  if (seconds < 1 || seconds > PAUSE_SECONDS.most) throw invalidParameter('for', 'must be from 1 second to 30 days')
  await requireAccount(sql, accountId)
  return sql.begin(async (transaction) => {
    const [last] = await deletePauses(transaction, pause, { rules: false, pausesOnly: true })
    const replaced = last ? { reason: last.reason, since: last.since, until: last.until } : null
    const value = { setting: 'pause', value: null, seconds: null, rule: OPERATOR_RULE, reason, lasts: seconds } as const
    await setOverride(transaction, { place, accountId, ...value })
    const [row] = await transaction<{ until: Date }[]>`
      select until from limit_overrides
       where place = ${place} and account_id is not distinct from ${accountId}::int and setting = 'pause' and rule = ${OPERATOR_RULE}`
    const until = row?.until as Date
    const before = replaced && { before: { reason: replaced.reason, until: replaced.until.toISOString() } }
    const after = { reason, until: until.toISOString() }
    await noteOperatorChange(transaction, { ...changeOf(pause, by), action: 'queue.pause', ...before, after })
    return { until, replaced }
  }) as Promise<SetPause>
}

/**
 * Ends what the operator has set for a destination; with `rules`, also what back-off rules and the adaptive limit have set. Without an account these are
 * the limits for the mail of all accounts; those of single accounts stay. A provider or site is resumed for all its sources. Returns the rules whose
 * overrides were deleted.
 */
export async function resumeDestination(
  sql: Sql,
  target: PauseTarget,
  { rules, by }: { readonly rules: boolean; readonly by: Actor },
): Promise<string[]> {
  return sql.begin(async (transaction) => {
    const deleted = await deletePauses(transaction, target, { rules, pausesOnly: false })
    const ended = [...new Set(deleted.map(({ rule }) => rule))]
    if (ended.length === 0) return []
    await transaction`select pg_notify(${LIMITS_CHANNEL}, '')`
    await noteOperatorChange(transaction, { ...changeOf(target, by), action: 'queue.resume', before: { rules: ended } })
    return ended
  }) as Promise<string[]>
}

/** Returns those that were in effect. */
async function deletePauses(
  sql: SqlTransaction,
  { place, accountId }: PauseTarget,
  { rules, pausesOnly }: { readonly rules: boolean; readonly pausesOnly: boolean },
): Promise<(ReplacedPause & { readonly rule: string })[]> {
  const rows = await sql<(ReplacedPause & { rule: string; ended: boolean })[]>`
    with deleted as (
      delete from limit_overrides
       where ${pausesOnly ? sql`place = ${place}` : isAtDestination(sql, sql`place`, place)}
         and account_id is not distinct from ${accountId}::int
         ${rules ? sql`` : sql`and rule = ${OPERATOR_RULE}`} ${pausesOnly ? sql`and setting = 'pause'` : sql``}
      returning *
    ), kept as (
      ${keepPastLimits(sql, sql`deleted`)}
    )
    select rule, reason, since, until, until <= service_now() as ended from deleted`
  return rows.filter(({ ended }) => !ended)
}

function changeOf({ place, accountId }: PauseTarget, by: Actor) {
  return { accountId, by, object: `place ${place}` }
}

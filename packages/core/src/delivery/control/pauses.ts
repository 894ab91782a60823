import type { Actor } from '../../accounts/audit/index.ts'
import { noteOperatorChange } from '../../accounts/audit/note-operator-change.ts'
import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { LIMITS_CHANNEL, OPERATOR_RULE, setOverride } from '../overrides.ts'
import { keepPastLimits } from '../past-limits.ts'
import { isAtPlace } from '../place-names.ts'
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

export interface PauseResult extends PauseTarget {
  /** When it ends. */
  readonly until: Date
  /** Whether the place is a provider, or a site with waiting mail. */
  readonly known: boolean
}

export const PAUSE_SECONDS = { usual: 24 * 3600, most: 30 * 24 * 3600 } as const
const MAX_LENGTH = { place: 300, reason: 1000 } as const

/**
 * Pauses a place for all mail or for that of one account. Workers offer nothing there from then on; deliveries in flight end as usual. A pause
 * replaces one that the operator has set before, also if it is shorter. Returns when it ends.
 *
 * Throws parameterInvalid (place, reason, for, account).
 */
export async function pausePlace(sql: Sql, pause: NewPause, by: Actor): Promise<Date> {
  const { place, accountId, seconds, reason } = pause
  if (place === '' || place.length > MAX_LENGTH.place) throw invalidParameter('place', 'must have 1 to 300 characters')
  if (reason.trim() === '' || reason.length > MAX_LENGTH.reason) {
    throw invalidParameter('reason', `must have 1 to ${MAX_LENGTH.reason} characters`)
  }
  if (seconds < 1 || seconds > PAUSE_SECONDS.most) throw invalidParameter('for', 'must be from 1 second to 30 days')
  await requireAccount(sql, accountId)
  return sql.begin(async (transaction) => {
    await deletePauses(transaction, pause, { rules: false, pausesOnly: true })
    const value = { setting: 'pause', value: null, seconds: null, rule: OPERATOR_RULE, reason, lasts: seconds } as const
    await setOverride(transaction, { place, accountId, ...value })
    const [row] = await transaction<{ until: Date }[]>`
      select until from limit_overrides
       where place = ${place} and account_id is not distinct from ${accountId}::int and setting = 'pause' and rule = ${OPERATOR_RULE}`
    const until = row?.until as Date
    const after = { reason, until: until.toISOString() }
    await noteOperatorChange(transaction, { ...changeOf(pause, by), action: 'queue.pause', after })
    return until
  }) as Promise<Date>
}

/**
 * Ends what the operator has set for a place; with `rules`, also what back-off rules and the adaptive limit have set. Without an account these are
 * the limits for the mail of all accounts; those of single accounts stay. A provider or site is resumed for all its sources. Returns the rules whose overrides were deleted.
 */
export async function resumePlace(
  sql: Sql,
  target: PauseTarget,
  { rules, by }: { readonly rules: boolean; readonly by: Actor },
): Promise<string[]> {
  return sql.begin(async (transaction) => {
    const ended = await deletePauses(transaction, target, { rules, pausesOnly: false })
    if (ended.length === 0) return []
    await transaction`select pg_notify(${LIMITS_CHANNEL}, '')`
    await noteOperatorChange(transaction, { ...changeOf(target, by), action: 'queue.resume', before: { rules: ended } })
    return ended
  }) as Promise<string[]>
}

async function deletePauses(
  sql: SqlTransaction,
  { place, accountId }: PauseTarget,
  { rules, pausesOnly }: { readonly rules: boolean; readonly pausesOnly: boolean },
): Promise<string[]> {
  const rows = await sql<{ rule: string; ended: boolean }[]>`
    with deleted as (
      delete from limit_overrides
       where ${pausesOnly ? sql`place = ${place}` : isAtPlace(sql, sql`place`, place)}
         and account_id is not distinct from ${accountId}::int
         ${rules ? sql`` : sql`and rule = ${OPERATOR_RULE}`} ${pausesOnly ? sql`and setting = 'pause'` : sql``}
      returning *
    ), kept as (
      ${keepPastLimits(sql, sql`deleted`)}
    )
    select rule, until <= service_now() as ended from deleted`
  return [...new Set(rows.filter(({ ended }) => !ended).map(({ rule }) => rule))]
}

function changeOf({ place, accountId }: PauseTarget, by: Actor) {
  return { accountId, by, object: `place ${place}` }
}

import type { DeliveryClass } from '../accounts/mail-class.ts'
import type { AnySql } from '../platform/database/database.ts'

/** Where mail of an account that is held or slowed is parked. Names of sites have no colon. */
export const HELD_PLACE = 'account:held'

export const HOLD_LEVELS = ['warned', 'slowed', 'held'] as const
export type HoldLevel = (typeof HOLD_LEVELS)[number]

/** That mail of some classes of an account is held, or slowed to a number of messages per hour. */
export interface AccountHold {
  readonly accountId: number
  readonly classes: readonly DeliveryClass[]
  /** Null if no mail is sent. */
  readonly rate: number | null
}

/** Returns what workers must hold or slow. */
export async function readAccountHolds(sql: AnySql): Promise<AccountHold[]> {
  return sql<AccountHold[]>`
    select account_id as "accountId", classes, case when level = 'slowed' then rate end as rate from account_holds
     where level <> 'warned' and (until is null or until > service_now())`
}

/** Why the mail of a flow waits. */
export interface HoldReason {
  readonly rule: string
  readonly level: HoldLevel
  readonly rate: number | null
  readonly reason: string | null
  readonly since: Date
}

/** Returns the strictest hold of a flow; undefined if there is none. */
export async function holdOf(
  sql: AnySql,
  { accountId, class: of }: { readonly accountId: number; readonly class: DeliveryClass },
): Promise<HoldReason | undefined> {
  const [row] = await sql<HoldReason[]>`
    select rule, level, rate, reason, since from account_holds
     where account_id = ${accountId} and ${of}::smallint = any(classes) and level <> 'warned'
       and (until is null or until > service_now())
     order by level = 'held' desc, rate limit 1`
  return row
}

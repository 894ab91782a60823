import type { DeliveryClass } from '../accounts/mail-class.ts'
import type { AnySql } from '../platform/database/database.ts'
import type { Secrets } from '../platform/secrets.ts'

/** Where mail of an account that is held or slowed is parked, and mail to a recipient of it. Names of sites have no colon. */
export const HELD_PLACE = 'account:held'
export const HELD_RECIPIENT_PLACE = 'account:recipient'

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

/** A recipient of an account whose mail waits (reputation/repeats.ts). */
export interface RecipientHold {
  readonly accountId: number
  /** See {@link recipientHash}. */
  readonly recipient: string
}

/** Recipients that workers read at most. Mail to others is sent. */
const MAX_RECIPIENTS = 10_000

/** Returns the recipients whose mail waits, the latest first. */
export async function readRecipientHolds(sql: AnySql): Promise<RecipientHold[]> {
  return sql<RecipientHold[]>`
    select account_id as "accountId", recipient::text as recipient from recipient_holds where until > service_now()
     order by since desc limit ${MAX_RECIPIENTS}`
}

/** Returns the keyed hash of a recipient, as a decimal number: a hold must not keep an address. */
export function recipientHash(secrets: Secrets, recipient: string): string {
  return secrets.mac('recipient hold', Buffer.from(recipient.toLowerCase())).readBigInt64BE().toString()
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

import { BULK, type DeliveryClass, NORMAL, URGENT } from '../../accounts/mail-class.ts'
import type { AnySql } from '../../platform/database/database.ts'
import type { Secrets } from '../../platform/security/secrets.ts'

/** Where mail of an account that is held or slowed is parked, and mail to a recipient of it. Names of sites have no colon. */
export const HELD_PLACE = 'account:held'
export const HELD_RECIPIENT_PLACE = 'account:recipient'
/** Where bulk mail without one-click unsubscription is parked, if its account holds such mail. */
export const HELD_ONE_CLICK_PLACE = 'account:one-click'
const ACCOUNT_PLACES = [HELD_PLACE, HELD_RECIPIENT_PLACE, HELD_ONE_CLICK_PLACE]
const DOMAIN_PLACE = 'domain:'

/** Where bulk mail of a domain is parked that lacks what large receivers demand. Each has a place of its own, so that one is released alone. */
export function heldDomainPlace(domain: string): string {
  return `${DOMAIN_PLACE}${domain}`
}

/** The name of the domain whose mail is parked at this place; undefined if it is another place. */
export function domainOfPlace(place: string): string | undefined {
  return place.startsWith(DOMAIN_PLACE) ? place.slice(DOMAIN_PLACE.length) : undefined
}

/** Whether waiting mail is parked because its account, recipient or domain is held or slowed. */
export function isParkedForAccount(sql: AnySql): ReturnType<AnySql> {
  return sql`coalesce(place = any(${ACCOUNT_PLACES}::text[]) or starts_with(place, ${DOMAIN_PLACE}), false)`
}

/** Whether a destination is one of these, and so no provider or site. */
export function isHeldDestination(destination: string): boolean {
  return ACCOUNT_PLACES.includes(destination) || destination.startsWith(DOMAIN_PLACE)
}

export const HOLD_LEVELS = ['warned', 'slowed', 'held'] as const
export type HoldLevel = (typeof HOLD_LEVELS)[number]

/** That mail of some classes of an account is held, or slowed to a number of messages per hour. */
export interface AccountHold {
  readonly accountId: number
  readonly classes: readonly DeliveryClass[]
  /** Null if no mail is sent. */
  readonly rate: number | null
}

const CLASSES: readonly DeliveryClass[] = [URGENT, NORMAL, BULK]
const NOT_URGENT: readonly DeliveryClass[] = [NORMAL, BULK]

/** Returns what workers must hold or slow. A hold with a rate slows the mail that it does not hold, except urgent mail. */
export async function readAccountHolds(sql: AnySql): Promise<AccountHold[]> {
  const rows = await sql<(AccountHold & { level: HoldLevel })[]>`
    select account_id as "accountId", classes, level, rate from account_holds
     where level <> 'warned' and (until is null or until > service_now())
    union all
    select id, ${[...CLASSES]}::smallint[], 'held', null from accounts where closed_at is not null
    union all
    select a.id, ${[...CLASSES]}::smallint[], 'held', null
      from accounts p join accounts a on a.parent_id = p.id and a.deleted_at is null where p.closed_at is not null`
  return rows.flatMap(({ accountId, classes, level, rate }) => {
    if (level === 'slowed') return [{ accountId, classes, rate }]
    const others = rate === null ? [] : NOT_URGENT.filter((of) => !classes.includes(of))
    return [{ accountId, classes, rate: null }, ...(others.length > 0 ? [{ accountId, classes: others, rate }] : [])]
  })
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
  return secrets.pseudonym('recipient hold', Buffer.from(recipient.toLowerCase())).readBigInt64BE().toString()
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
    select rule, case when ${of}::smallint = any(classes) then level else 'slowed' end as level, rate, reason, since from account_holds
     where account_id = ${accountId} and level <> 'warned' and (until is null or until > service_now())
       and (${of}::smallint = any(classes) or (rate is not null and ${of}::smallint = any(${[...NOT_URGENT]}::smallint[])))
     order by level = 'held' and ${of}::smallint = any(classes) desc, rate limit 1`
  return row?.level === 'held' ? row : ((await closedOf(sql, accountId)) ?? row)
}

/** The name of a closed account's hold among the rules. */
const CLOSED = 'closed'

async function closedOf(sql: AnySql, accountId: number): Promise<HoldReason | undefined> {
  const [row] = await sql<HoldReason[]>`
    select ${CLOSED} as rule, 'held' as level, null as rate, null as reason, coalesce(a.closed_at, p.closed_at) as since
      from accounts a left join accounts p on p.id = a.parent_id
     where a.id = ${accountId} and coalesce(a.closed_at, p.closed_at) is not null`
  return row
}

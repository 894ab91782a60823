import type { RequirementMode } from '../accounts/account-settings.ts'
import { BULK, DELIVERY_CLASSES } from '../accounts/mail-class.ts'
import type { AnySql } from '../platform/database/database.ts'

/** The rule that holds single recipients (repeats.ts). */
export const REPEATED_RECIPIENT = 'repeated-recipient'
/** The rule that holds bulk mail of domains that lack what large receivers demand (guard). */
export const REQUIREMENTS = 'requirements'

/** The recipients of each account whose mail waits, as one hold. */
export function recipientHolds(
  sql: AnySql,
  where: ReturnType<AnySql>,
  account: ReturnType<AnySql> = sql``,
): ReturnType<AnySql> {
  return sql`
    select ${account} ${REPEATED_RECIPIENT}::text as rule, 'held'::text as level, '{}'::text[] as classes, null::int as rate,
           jsonb_build_object('recipients', count(*)) as figures, null::text as reason, min(since) as since, max(until) as until
      from recipient_holds where until > service_now() and ${where} group by account_id`
}

/** The domains of each account whose bulk mail waits for what large receivers demand, as one hold. */
export function domainHolds(
  sql: AnySql,
  usual: RequirementMode,
  where: ReturnType<AnySql>,
  account: ReturnType<AnySql> = sql``,
): ReturnType<AnySql> {
  return sql`
    select ${account} ${REQUIREMENTS}::text as rule, 'held'::text as level, array[${DELIVERY_CLASSES[BULK]}::text] as classes, null::int as rate,
           jsonb_build_object('domains', count(*)) as figures, null::text as reason, min(g.lacking_since) as since, null::timestamptz as until
      from domain_guards g join domains d on d.id = g.domain_id join accounts a on a.id = d.account_id
     where g.lacks <> '{}' and d.deleted_at is null and d.state <> 'pending' and coalesce(a.requirements, ${usual}) = 'hold' and ${where}
     group by d.account_id`
}

import type { AnySql } from '../../platform/database/database.ts'
import { sameCause } from '../../suppressions/store.ts'
import type { BounceClass } from './bounce-rules.ts'

type Fragment = ReturnType<AnySql>

/**
 * Bounce classes of an address to which no mail will ever be delivered: sending to it again would harm the sender's reputation. Not those of
 * its domain, which its owner can correct. Fewer than count as a hard bounce in reports (reporting/events/texts.ts).
 */
export const SUPPRESSED: readonly BounceClass[] = ['bad-mailbox', 'moved']

/**
 * Returns the statement that suppresses the recipients of a relation with `account_id`, `recipient_key`, `message_id`, `recipient_no`, and the `class`
 * of the bounce; `days`: until when, 0 for permanently; `returnId`: the report, if there is one. An existing entry is kept, unless it was added
 * automatically and expires.
 */
export function suppressHardBounces(
  sql: AnySql,
  from: Fragment,
  { days, returnId = null }: { readonly days: number; readonly returnId?: string | null },
): Fragment {
  return sql`
    insert into suppressions as s (account_id, scope, value, reason, held_until, rule, class, message_id, recipient_no, return_id)
    select distinct on (account_id, recipient_key) account_id, 'address', recipient_key, 'hardbounce',
           case when ${days}::int > 0 then service_now() + make_interval(days => ${days}::int) end,
           'hard-bounce', class, message_id, recipient_no, ${returnId}::uuid
      from ${from}
     -- Every writer locks rows in the same order, so two batches never deadlock.
     order by account_id, recipient_key
    on conflict (account_id, value, group_id) do update
       set since = excluded.since, reason = excluded.reason, held_until = excluded.held_until, ${sameCause(sql)}
     where s.held_until is not null`
}

import { insertEvents } from '../../events/insert-events.ts'
import type { SqlTransaction } from '../../platform/database/database.ts'
import type { EvaluatedDelivery } from './evaluate.ts'

const REPLY = 'requeued by the operator'

/**
 * Moves deliveries to the queue, in one statement: due immediately, for as long as new messages, with the numbers of their attempts. Each
 * gets a `deferred` event, and is always in exactly one of the two tables.
 */
export async function moveToQueue(
  sql: SqlTransaction,
  wanted: readonly Pick<EvaluatedDelivery, 'message' | 'recipientNo'>[],
): Promise<void> {
  const columns = wanted.map(({ message }) => message.columns)
  const { count } = await sql`
    with wanted as (
      select * from unnest(${wanted.map(({ message }) => message.id)}::uuid[], ${wanted.map(({ recipientNo }) => recipientNo)}::int[],
                           ${columns.map((one) => one.class)}::int[], ${columns.map(({ groupId }) => groupId)}::int[],
                           ${columns.map(({ bypass }) => bypass?.join() ?? null)}::text[],
                           ${columns.map(({ lifetime }) => lifetime)}::int[])
               as w(id, no, class, group_id, bypass, lifetime)
    ), moved as (
      delete from finished_deliveries f using wanted w
       where f.message_id = w.id and f.recipient_no = w.no and f.state in ('bounced', 'expired')
      returning f.*, w.class, w.group_id, w.bypass, w.lifetime
    ), queued as (
      insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind,
             reference, personal, attempt, class, group_id, bypass, next_at, expires_at)
      select message_id, recipient_no, account_id, 'deferred', recipient, recipient_key, recipient_domain, kind,
             reference, personal, attempt, class, group_id, string_to_array(bypass, ','),
             service_now(), service_now() + make_interval(secs => lifetime)
        from moved
    ), new_events as (
      ${insertEvents(sql, {
        from: sql`moved`,
        type: 'deferred',
        detail: sql`jsonb_build_object('attempt', attempt, 'reason', 'operator', 'reply', ${REPLY}::text, 'nextAt', service_now())`,
      })}
    )
    select 1 from moved`
  if (count !== wanted.length) throw new Error(`${count} of ${wanted.length} deliveries could be moved to the queue`)
}

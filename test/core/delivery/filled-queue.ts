import type { Sql } from '@postrider/core'

export interface Filling {
  /** The accounts that the deliveries are of, in turn. */
  readonly accountIds: readonly number[]
  readonly count: number
  /** Recipients of a message. */
  readonly recipients?: number
  /** Expressions over the numbers `n` (of the delivery) and `m` (of the message). */
  readonly columns?: Partial<
    Record<'state' | 'next_at' | 'place' | 'waiting_for' | 'class' | 'recipient_domain', string>
  >
  readonly tags?: string
}

/** Puts deliveries into the queue by SQL, with their messages but without bodies: no worker may deliver them. */
export async function fillQueue(sql: Sql, filling: Filling): Promise<void> {
  const { accountIds, count, recipients = 100, columns = {}, tags = "'{}'" } = filling
  const domain = columns.recipient_domain ?? "'d' || n % 1000 || '.example'"
  const messages = Math.ceil(count / recipients)
  await sql.unsafe(`
    set local statement_timeout = 0;
    create temporary table filling on commit drop as
      select m, overlay(uuidv7_floor(service_now() - interval '1 hour' + m * interval '1 ms')::text
               placing lpad(to_hex((random() * 4294967295)::bigint), 8, '0') from 29)::uuid as id,
             (array[${accountIds.join()}])[1 + m % ${accountIds.length}] as account_id
        from generate_series(1, ${messages}) m;
    insert into messages (id, account_id, domain_id, door, accepted_at, from_address, subject, tags, format, size, parts, recipients, transaction_base)
    select id, account_id, 1, 'v2', service_now(), 'a@ship.example', 's', ${tags}, 'mime', 1, 1, ${recipients}, m::bigint * 1000000 from filling;
    insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain, kind, next_at, expires_at,
                                place, waiting_for, class)
    select id, r, account_id, ${columns.state ?? "'queued'"}, 'r' || n || '@' || ${domain}, 'r' || n || '@' || ${domain}, ${domain}, 'to',
           ${columns.next_at ?? "service_now() + interval '1 hour'"}, service_now() + interval '3 days',
           ${columns.place ?? 'null'}, ${columns.waiting_for ?? 'null'}, ${columns.class ?? '1'}
      from (select *, (m - 1) * ${recipients} + r as n from filling, generate_series(1, ${recipients}) r) n where n <= ${count};
  `)
  await sql`analyze delivery_queue`
}

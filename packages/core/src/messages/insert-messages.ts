import { finishDeliveries } from '../delivery/outcomes/finish-deliveries.ts'
import type { Announcer } from '../delivery/queue/queue-channel.ts'
import { insertEvents } from '../events/insert-events.ts'
import type { SentStatement } from '../platform/database/commits/lost-answers.ts'
import type { AnySql } from '../platform/database/database.ts'
import { matchingSuppression } from '../suppressions/store.ts'
import { bodyColumns, deliveryColumns } from './accept-columns.ts'
import {
  bypassParts,
  dataParts,
  hashedOptOuts,
  objectParts,
  octetsParts,
  ownSchedules,
  refusalParts,
  unkeptParts,
  urgencyParts,
} from './accept-parts.ts'
import { batchParts } from './batches.ts'
import { messageColumns } from './message-columns.ts'
import type { StoredMessage } from './stored-message.ts'

/** The result of writing one message of a batch. */
export interface Written {
  /** False if its idempotency key was already used or the message was rejected. */
  readonly stored: boolean
  /** Set if its recipients cost more than the remaining credits. The message is not stored. */
  readonly refused?: 'credits'
  /** Whether at least one delivery was queued. */
  readonly queued: boolean
  /** Whether the workers have been woken for it. */
  readonly announced?: boolean
}

const REFUSED: Written = { stored: false, queued: false, refused: 'credits' }
/** Its idempotency key was already used. */
const REPEATED: Written = { stored: false, queued: false }

export interface InsertOptions {
  readonly withBodies: boolean
  readonly hashes: (string | null)[] | undefined
  /** Not within a transaction, which commits later. */
  readonly announceBehind?: Announcer['announceBehind']
  /** Called with the statement, by which the session is known that runs it. */
  readonly onSent?: (statement: SentStatement) => void
}

/**
 * Writes a batch in one statement, with one round trip and one commit: suppression lookup, credits, idempotency keys, messages,
 * bodies, queued or finished deliveries and first events. With arrays as parameters it is the same statement for every batch size.
 *
 * It is one text rather than composed by functions, so that it can be read from top to bottom; only the columns of messages are listed
 * by {@link messageColumns}. docs/accept.sql contains it as sent to the database, to be run in psql; a test keeps that file up to date.
 */
export async function insertMessages(
  sql: AnySql,
  batch: readonly StoredMessage[],
  { withBodies, hashes, announceBehind, onSent }: InsertOptions,
): Promise<Written[]> {
  const message = messageColumns(sql, batch)
  const delivery = deliveryColumns(batch)
  const body = bodyColumns(withBodies ? batch : [])
  const data = dataParts(sql, delivery.personal, body.end)
  const whole = octetsParts(sql, body.octets, data.texts)
  const bypass = bypassParts(sql, batch)
  const hashed = hashedOptOuts(sql, hashes, bypass.list)
  const held = batchParts(sql, batch)
  const due = ownSchedules(sql, batch)
  const object = objectParts(sql, body.objectLength)
  const unusable = refusalParts(sql, batch)
  const urgency = urgencyParts(sql, batch)
  const suppression = matchingSuppression(
    sql,
    {
      account: sql`d.account_id`,
      key: sql`d.key`,
      domain: sql`d.domain`,
      group: sql`d.group_id`,
      ...(bypass.list ? { bypass: bypass.list } : {}),
    },
    sql`s.reason`,
  )
  const statement = sql<{ id: string; queued: boolean; refused: boolean }[]>`
    with${data.recursive} ${held.found} message as materialized (
      select * from unnest(${message.arrays}) with ordinality as m(${message.names}, place)
    ), checked as materialized (
      select d.* ${bypass.columns} ${unusable.columns},
             case when d.key is null then 'invalid'
                  else coalesce(suppressed.reason ${hashed.reason} ${unusable.refusal} ${held.refusal}) end as refusal
        from unnest(${delivery.message}::uuid[], ${delivery.account}::int[], ${delivery.number}::int[],
                    ${delivery.recipient}::text[], ${delivery.key}::text[], ${delivery.domain}::text[], ${delivery.kind}::text[],
                    ${delivery.reference}::text[], ${data.column}::text[], ${delivery.group}::int[] ${hashed.column}
                    ${due.column}${data.places})
             as d(message_id, account_id, recipient_no, recipient, key, domain, kind, reference, personal, group_id
                  ${hashed.name} ${due.name}${data.names})
        ${bypass.join}
        left join lateral (${suppression} limit 1) suppressed on true
        ${hashed.join}
        ${unusable.join}
        ${held.join}
    ), limited_accounts as materialized (
      -- Usually empty: then no balance is charged or locked.
      select account_id from credit_balances where account_id = any(${payersOf(batch)}::int[])
    ), limited as materialized (
      select * from message
       where account_id in (select account_id from limited_accounts) or parent_id in (select account_id from limited_accounts)
    ), charged as materialized (
      select charge.* from (
        select array_agg(id order by place) as ids, array_agg(account_id order by place) as accounts,
               array_agg(parent_id order by place) as parents, array_agg(key order by place) as keys,
               array_agg(fingerprint order by place) as fingerprints,
               array_agg((select count(*)::int from checked where checked.message_id = limited.id and refusal is null)
                         order by place) as costs
          from limited having count(*) > 0
      ) bill, charge_credits(ids, accounts, parents, keys, fingerprints, costs) charge
    ), keyed as (
      insert into idempotency_keys (account_id, key, fingerprint, message_id, created_at)
      select account_id, key, decode(fingerprint, 'hex'), id, service_now() from message
       where key is not null and id not in (select message_id from charged)
      -- Every writer locks keys in the same order, so two batches never deadlock.
      order by account_id, key, place
      on conflict do nothing
      returning message_id
    ), stored as (
      insert into messages (accepted_at, ${message.inserted})
      select service_now(), ${message.selected}
        from message
       where case when id in (select message_id from charged)
                  then id in (select message_id from charged where verdict = 'stored')
                  else key is null or id in (select message_id from keyed) end
      returning id, scheduled_at
    ), recipient as materialized (
      select checked.*, ${due.at} as scheduled_at ${urgency.columns} from checked join stored on stored.id = checked.message_id
        ${urgency.join}
    ), used as (
      insert into credit_usage (account_id, day, slot, used)
      select account_id, (service_now() at time zone 'UTC')::date, pg_backend_pid() % 64, count(*)
        from recipient where refusal is null group by account_id
      -- As with keys, the same order in every writer; after the balances and the keys.
      order by account_id
      on conflict (account_id, day, slot) do update set used = credit_usage.used + excluded.used
    )${held.added}${unkeptParts(sql, batch)}, queued as (
      insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain,
             kind, reference, personal, group_id, next_at, expires_at ${urgency.name} ${bypass.name})
      select message_id, recipient_no, account_id, case when scheduled_at > service_now() then 'scheduled' else 'queued' end,
             recipient, key, domain, kind, reference, ${data.value}, group_id, ${held.nextAt},
             greatest(scheduled_at, service_now()) + ${urgency.lifetime} ${urgency.value} ${bypass.name}
        from recipient where refusal is null
      returning message_id
    ), finished as (
      ${finishDeliveries(sql, {
        from: sql`recipient where refusal is not null`,
        state: 'dropped',
        reason: sql`refusal`,
        columns: {
          recipientKey: sql`coalesce(key, lower(recipient))`,
          recipientDomain: sql`domain`,
          personal: data.value,
          attempt: sql`0`,
        },
      })}
    ), new_events as (
      ${insertEvents(sql, {
        from: sql`recipient`,
        type: sql`case when refusal is null then 'processed' when refusal = 'invalid' then 'invalid' else 'dropped' end`,
        detail: sql`case when refusal <> 'invalid' then jsonb_build_object('reason', refusal) ${unusable.detail}
                    ${urgency.detail} end`,
      })}
    ), body as (
      insert into bodies (message_id, part, encoding, content, digest${object.column})
      select b.message_id, b.part, b.encoding, substring(whole.octets from b.start for b.length), b.digest${object.value}
        from unnest(${body.message}::uuid[], ${body.part}::int[], ${body.encoding}::text[], ${body.start}::int[],
                    ${body.length}::int[], ${body.digest}::int[]${object.array})
             as b(message_id, part, encoding, start, length, digest${object.name})
        join stored on stored.id = b.message_id
        cross join ${whole.from}
    )${whole.part}
    select id::text as id, id in (select message_id from queued) as queued, false as refused from stored
    union all
    select message_id::text, false, true from charged where verdict = 'refused'`
  onSent?.(statement as unknown as SentStatement)
  const isAnnounced = announceBehind?.(statement, batch)
  const rows = await statement
  const announced = isAnnounced?.() === true
  const results = new Map(
    rows.map(({ id, queued, refused }) => [id, refused ? REFUSED : { stored: true, queued, announced }]),
  )
  return batch.map(({ id }) => results.get(id) ?? REPEATED)
}

/** Returns the accounts whose credits may be charged. */
function payersOf(batch: readonly StoredMessage[]): number[] {
  return [
    ...new Set(batch.flatMap(({ accountId, parentId }) => (parentId === null ? [accountId] : [accountId, parentId]))),
  ]
}

import { PartDigest } from '../composition/body.ts'
import { finishDeliveries } from '../delivery/finish-deliveries.ts'
import { LIFETIME_HOURS } from '../delivery/schedule.ts'
import { insertEvents } from '../events/insert-events.ts'
import { type AnySql, isDatabaseAway, isRetryable, type Sql } from '../platform/database/database.ts'
import { ensurePartitions } from '../platform/database/partitions.ts'
import { type Fragment, holdsDespite } from '../suppressions/bypass.ts'
import type { Forgotten } from '../suppressions/forgotten.ts'
import { entryOf } from '../suppressions/forgotten.ts'
import { holding } from '../suppressions/store.ts'
import { batchParts } from './batches.ts'
import { copyBodies } from './copy-bodies.ts'
import { bypassParts, refusalParts } from './exceptions.ts'
import type { StoredDelivery, StoredMessage } from './stored-message.ts'

/** The result of writing one message of a batch. */
export interface Written {
  /** False if its idempotency key was already used or the message was rejected. */
  readonly stored: boolean
  /** Set if its recipients cost more than the remaining credits. The message is not stored. */
  readonly refused?: 'credits'
  /** Whether at least one delivery was queued. */
  readonly queued: boolean
}

/** Bytes above which a part is written in chunks by COPY. As a parameter it would be in memory twice, here and in the database. */
const COPY_ABOVE = 1024 * 1024
/** Milliseconds for which a batch is retried while the database restarts. Clients wait longer than that (RFC 5321 4.5.3.2.6). */
const RETRY_TIMEOUT = 8000

export interface Write {
  readonly sql: Sql
  readonly batch: readonly StoredMessage[]
  readonly forgotten: Forgotten
  /** Whether a client still waits for the message at this position; meanwhile it may have got an error. */
  readonly isWanted: (at: number) => boolean
}

/**
 * Writes a batch of messages in one transaction and returns after its commit (P1). If the connection is lost or stalls, the commit
 * may or may not have happened. Ids are generated here, so the batch is looked up and written again only if it is not found.
 * Messages for which no client waits any longer are not written again.
 */
export async function writeMessages({ sql, batch, forgotten, isWanted }: Write): Promise<Written[]> {
  const deadline = performance.now() + RETRY_TIMEOUT
  for (let attempt = 1; ; attempt++) {
    try {
      const found = attempt > 1 ? await findStored(sql, batch) : undefined
      if (found && found.size > 0) return batch.map(({ id }) => ({ stored: found.has(id), queued: found.has(id) }))
      const wanted = batch.filter((_message, at) => isWanted(at))
      if (wanted.length === batch.length) return await insertOnce(sql, batch, forgotten)
      const written = wanted.length > 0 ? await insertOnce(sql, wanted, forgotten) : []
      return batch.map((message) => written[wanted.indexOf(message)] ?? REPEATED)
    } catch (error) {
      if (lacksPartition(error) && attempt === 1) {
        await ensurePartitions(sql)
        continue
      }
      const again = isDatabaseAway(error) || isRetryable(error) || (attempt > 1 && isOwnDuplicate(error))
      if (!again || performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, Math.min(50 * 2 ** attempt, 500) * (0.5 + Math.random())))
    }
  }
}

/**
 * Returns the ids of the batch that are stored. If one message is stored, all are, except those whose idempotency key was already
 * used.
 */
async function findStored(sql: Sql, batch: readonly StoredMessage[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select id::text from messages where id = any(${batch.map(({ id }) => id)}::uuid[])`
  return new Set(rows.map(({ id }) => id))
}

/** Whether the first attempt's transaction was still running during the lookup and has committed since. */
function isOwnDuplicate(error: unknown): boolean {
  const { code, table_name: table } = error as { code?: string; table_name?: string }
  return code === '23505' && (table ?? '').startsWith('messages_')
}

/** Whether a partition is missing, because the database's clock jumped to a week for which housekeeping had not created one. */
function lacksPartition(error: unknown): boolean {
  const { code, routine } = error as { code?: string; routine?: string }
  return code === '23514' && routine === 'ExecFindPartition'
}

function wantsCopy(batch: readonly StoredMessage[]): boolean {
  return batch.some(({ parts }) => parts.some(({ length }) => length > COPY_ABOVE))
}

async function insertOnce(sql: Sql, batch: readonly StoredMessage[], forgotten: Forgotten): Promise<Written[]> {
  const hashes = forgottenHashes(batch, forgotten, await forgotten.accounts())
  if (!wantsCopy(batch)) return insertMessages(sql, batch, { withBodies: true, hashes })
  return sql.begin(async (transaction) => {
    const written = await insertMessages(transaction, batch, { withBodies: false, hashes })
    const stored = batch.filter((_message, at) => written[at]?.stored)
    if (stored.length > 0) await copyBodies(transaction, stored)
    return written
  }) as Promise<Written[]>
}

/** Returns the hash of each recipient under which an erased one is stored; undefined if no account has erased recipients. */
function forgottenHashes(
  batch: readonly StoredMessage[],
  { hash }: Forgotten,
  accounts: ReadonlySet<number>,
): (string | null)[] | undefined {
  if (accounts.size === 0 || !batch.some(({ accountId }) => accounts.has(accountId))) return undefined
  return batch.flatMap(({ accountId, deliveries }) =>
    deliveries.map(({ key }) =>
      key !== null && accounts.has(accountId) ? hash(accountId, key).toString('hex') : null,
    ),
  )
}

/** Additional parts of the statement if an account has opt-outs stored as hashes. */
function hashedOptOuts(sql: AnySql, hashes: (string | null)[] | undefined, bypass: Fragment | undefined) {
  if (!hashes) return { column: sql``, name: sql``, join: sql``, reason: sql`` }
  return {
    column: sql`, ${hashes}::text[]`,
    name: sql`, hash`,
    join: sql`
        left join lateral (
          select f.reason from forgotten f
           where f.account_id = d.account_id and f.hash = decode(d.hash, 'hex')
             and f.group_id = any(array[0, d.group_id]) and (f.held_until is null or f.held_until > service_now())
             ${bypass ? sql`and ${holdsDespite(sql, bypass, entryOf(sql))}` : sql``}
           limit 1) opted_out on true`,
    reason: sql`, opted_out.reason`,
  }
}

/** Additional parts of the statement if an envelope has its own scheduled time. */
function ownSchedules(sql: AnySql, batch: readonly StoredMessage[]) {
  const times = batch.flatMap(({ deliveries }) => deliveries.map(({ personal }) => personal?.scheduledAt ?? null))
  if (times.every((time) => time === null)) return { column: sql``, name: sql``, at: sql`stored.scheduled_at` }
  return {
    column: sql`, ${times}::timestamptz[]`,
    name: sql`, own_time`,
    at: sql`coalesce(checked.own_time, stored.scheduled_at)`,
  }
}

/**
 * Writes a batch in one statement, with one round trip and one commit: suppression lookup, credits, idempotency keys, messages,
 * bodies, queued or finished deliveries and first events. With arrays as parameters it is the same statement for every batch size.
 */
async function insertMessages(
  sql: AnySql,
  batch: readonly StoredMessage[],
  { withBodies, hashes }: { withBodies: boolean; hashes: (string | null)[] | undefined },
): Promise<Written[]> {
  const message = messageColumns(batch)
  const delivery = deliveryColumns(batch)
  const body = bodyColumns(withBodies ? batch : [])
  const bypass = bypassParts(sql, batch)
  const hashed = hashedOptOuts(sql, hashes, bypass.list)
  const held = batchParts(sql, batch)
  const due = ownSchedules(sql, batch)
  const unusable = refusalParts(sql, batch)
  const suppression = holding(
    sql,
    {
      ...{ account: sql`d.account_id`, key: sql`d.key`, domain: sql`d.domain`, group: sql`d.group_id` },
      ...(bypass.list ? { bypass: bypass.list } : {}),
    },
    sql`s.reason`,
  )
  const rows = await sql<{ id: string; queued: boolean; refused: boolean }[]>`
    with ${held.found} message as materialized (
      select * from unnest(
        ${message.id}::uuid[], ${message.account}::int[], ${message.parent}::int[], ${message.domain}::int[], ${message.apiKey}::int[],
        ${message.door}::text[], ${message.scheduledAt}::timestamptz[], ${message.from}::text[], ${message.subject}::text[],
        ${message.tags}::text[], ${message.settings}::text[], ${message.client}::inet[], ${message.format}::text[],
        ${message.size}::int[], ${message.parts}::int[], ${message.recipients}::int[], ${message.nullReturnPath}::text[]::boolean[],
        ${message.transactionBase}::bigint[], ${message.key}::text[], ${message.fingerprint}::text[]
      ) with ordinality as m(id, account_id, parent_id, domain_id, api_key_id, door, scheduled_at, from_address, subject, tags, settings, client_address,
             format, size, parts, recipients, null_return_path, transaction_base, key, fingerprint, place)
    ), checked as materialized (
      select d.* ${bypass.judged} ${unusable.judged},
             case when d.key is null then 'invalid'
                  else coalesce(suppressed.reason ${hashed.reason} ${unusable.refusal} ${held.refusal}) end as refusal
        from unnest(${delivery.message}::uuid[], ${delivery.account}::int[], ${delivery.number}::int[],
                    ${delivery.recipient}::text[], ${delivery.key}::text[], ${delivery.domain}::text[], ${delivery.kind}::text[],
                    ${delivery.reference}::text[], ${delivery.personal}::text[], ${delivery.group}::int[] ${hashed.column}
                    ${due.column})
             as d(message_id, account_id, recipient_no, recipient, key, domain, kind, reference, personal, group_id
                  ${hashed.name} ${due.name})
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
      order by account_id, key
      on conflict do nothing
      returning message_id
    ), stored as (
      insert into messages (id, account_id, domain_id, api_key_id, door, accepted_at, scheduled_at, from_address, subject,
             tags, settings, client_address, format, size, parts, recipients, null_return_path, transaction_base)
      select id, account_id, domain_id, api_key_id, door, service_now(), scheduled_at, from_address, subject,
             array(select jsonb_array_elements_text(tags::jsonb)), settings::jsonb, client_address, format, size, parts, recipients,
             null_return_path, transaction_base
        from message
       where case when id in (select message_id from charged)
                  then id in (select message_id from charged where verdict = 'stored')
                  else key is null or id in (select message_id from keyed) end
      returning id, scheduled_at
    ), recipient as materialized (
      select checked.*, ${due.at} as scheduled_at from checked join stored on stored.id = checked.message_id
    ), used as (
      insert into credit_usage (account_id, day, slot, used)
      select account_id, (service_now() at time zone 'UTC')::date, pg_backend_pid() % 64, count(*)
        from recipient where refusal is null group by account_id
      -- As with keys, the same order in every writer; after the balances and the keys.
      order by account_id
      on conflict (account_id, day, slot) do update set used = credit_usage.used + excluded.used
    )${held.added}, queued as (
      insert into delivery_queue (message_id, recipient_no, account_id, state, recipient, recipient_key, recipient_domain,
             kind, reference, personal, group_id, next_at, expires_at ${bypass.name})
      select message_id, recipient_no, account_id, case when scheduled_at > service_now() then 'scheduled' else 'queued' end,
             recipient, key, domain, kind, reference, personal::jsonb, group_id, ${held.nextAt},
             greatest(scheduled_at, service_now()) + make_interval(hours => ${LIFETIME_HOURS}::int) ${bypass.name}
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
          personal: sql`personal::jsonb`,
          attempt: sql`0`,
        },
      })}
    ), new_events as (
      ${insertEvents(sql, {
        from: sql`recipient`,
        type: sql`case when refusal is null then 'processed' when refusal = 'invalid' then 'invalid' else 'dropped' end`,
        detail: sql`case when refusal <> 'invalid' then jsonb_build_object('reason', refusal) ${unusable.detail} end`,
      })}
    ), body as (
      insert into bodies (message_id, part, encoding, content, digest)
      select b.message_id, b.part, b.encoding, substring(whole.octets from b.start for b.length), b.digest
        from unnest(${body.message}::uuid[], ${body.part}::int[], ${body.encoding}::text[], ${body.start}::int[],
                    ${body.length}::int[], ${body.digest}::int[]) as b(message_id, part, encoding, start, length, digest)
        join stored on stored.id = b.message_id
        -- Must be the last parameter: the driver sends only that one as bytes, others as hexadecimal text (docs/decisions/0007).
        cross join (select ${body.octets}::bytea) as whole(octets)
    )
    select id::text as id, id in (select message_id from queued) as queued, false as refused from stored
    union all
    select message_id::text, false, true from charged where verdict = 'refused'`
  const results = new Map(rows.map(({ id, queued, refused }) => [id, refused ? REFUSED : { stored: true, queued }]))
  return batch.map(({ id }) => results.get(id) ?? REPEATED)
}

const REFUSED: Written = { stored: false, queued: false, refused: 'credits' }
const REPEATED: Written = { stored: false, queued: false }

/** Returns the accounts whose credits may be charged. */
function payersOf(batch: readonly StoredMessage[]): number[] {
  return [
    ...new Set(batch.flatMap(({ accountId, parentId }) => (parentId === null ? [accountId] : [accountId, parentId]))),
  ]
}

function messageColumns(batch: readonly StoredMessage[]) {
  return {
    id: batch.map(({ id }) => id),
    account: batch.map(({ accountId }) => accountId),
    parent: batch.map(({ parentId }) => parentId),
    domain: batch.map(({ domainId }) => domainId),
    apiKey: batch.map(({ apiKeyId }) => apiKeyId),
    door: batch.map(({ door }) => door),
    scheduledAt: batch.map(({ scheduledAt }) => scheduledAt?.toISOString() ?? null),
    from: batch.map(({ fromAddress }) => fromAddress),
    subject: batch.map(({ subject }) => subject),
    // As one JSON text per message, because arrays of arrays must be rectangular.
    tags: batch.map(({ tags }) => JSON.stringify(tags)),
    settings: batch.map(({ settings }) => JSON.stringify(settings)),
    client: batch.map(({ clientAddress }) => clientAddress),
    format: batch.map(({ format }) => format),
    size: batch.map(({ size }) => size),
    parts: batch.map(({ parts }) => parts.length),
    recipients: batch.map(({ deliveries }) => deliveries.length),
    // As text: in an array of booleans the driver would send every text as false.
    nullReturnPath: batch.map(({ nullReturnPath }) => String(nullReturnPath)),
    transactionBase: batch.map(({ transactionBase }) => String(transactionBase)),
    key: batch.map(({ idempotencyKey }) => idempotencyKey ?? null),
    fingerprint: batch.map(({ fingerprint }) => fingerprint?.toString('hex') ?? null),
  }
}

function deliveryColumns(batch: readonly StoredMessage[]) {
  const pairs: { message: StoredMessage; delivery: StoredDelivery }[] = []
  for (const message of batch) for (const delivery of message.deliveries) pairs.push({ message, delivery })
  return {
    message: pairs.map(({ message }) => message.id),
    account: pairs.map(({ message }) => message.accountId),
    number: pairs.map(({ delivery }) => delivery.recipientNo),
    recipient: pairs.map(({ delivery }) => delivery.recipient),
    key: pairs.map(({ delivery }) => delivery.key),
    domain: pairs.map(({ delivery }) => delivery.domain),
    kind: pairs.map(({ delivery }) => delivery.kind),
    reference: pairs.map(({ delivery }) => delivery.reference ?? null),
    personal: pairs.map(({ delivery }) => (delivery.personal ? JSON.stringify(delivery.personal) : null)),
    group: pairs.map(({ message }) => message.settings.group ?? null),
  }
}

function bodyColumns(batch: readonly StoredMessage[]) {
  const octets: Buffer[] = []
  const columns = {
    message: [] as string[],
    part: [] as number[],
    encoding: [] as string[],
    start: [] as number[],
    length: [] as number[],
    digest: [] as number[],
  }
  let start = 1
  for (const { id, parts } of batch) {
    for (const [part, { encoding, pieces, length }] of parts.entries()) {
      const digest = new PartDigest(id, part)
      for (const piece of pieces) digest.add(piece)
      octets.push(...pieces)
      columns.message.push(id)
      columns.part.push(part)
      columns.encoding.push(encoding)
      columns.start.push(start)
      columns.length.push(length)
      columns.digest.push(digest.value)
      start += length
    }
  }
  return { ...columns, octets: Buffer.concat(octets) }
}

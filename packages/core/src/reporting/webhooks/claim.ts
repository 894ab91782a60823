import type { Event } from '../../events/event.ts'
import type { WebhookEvent } from '../../events/event-types.ts'
import type { AnySql, Sql, SqlTransaction } from '../../platform/database/database.ts'
import { readEvents } from '../events/read.ts'
import type { LeasedBatch } from './webhook.ts'

/** Maximum number of events in a batch (v2 contract 16.2). */
export const BATCH_EVENTS = 100
/** Concurrent requests to a receiver that responds in time; slow receivers get one at a time. */
const CONCURRENCY = 4
const SLOW_MS = 1500
/** A request takes at most ten seconds; a worker that holds a batch longer is presumed dead. */
const LEASE_SECONDS = 20
/**
 * Attempts of each waiting batch after which a failing receiver is probed with new events, because the waiting ones may be the cause.
 */
const TRIES = 3
/** Maximum waiting batches of a failing receiver, and of any receiver. */
const MAX_WAITING_WHILE_FAILING = 16
export const MAX_WAITING = 1000
/** Maximum pages of sequence numbers that one claim reads if they contain no relevant events. */
const MAX_PAGES = 20
/** Advisory lock namespace. */
const NOTICE_LOCK = 7743

/**
 * Makes webhooks due whose accounts have new events. One process at a time does this. No event is missed, because positions are
 * compared with sequence numbers and no per-event mark is needed.
 */
export async function noticeEvents(sql: AnySql): Promise<number> {
  const rows = await sql`
    with mutex as materialized (select pg_try_advisory_xact_lock(${NOTICE_LOCK}) as taken)
    update webhooks w set due_at = service_now() from mutex
     where mutex.taken and w.enabled and (w.due_at is null or w.due_at > service_now())
       -- Failing webhooks wait for their retry time despite new events.
       and w.failing_since is null and (w.held_until is null or w.held_until <= service_now())
       and w.position < (select first_number + count - 1 from event_pages p where p.account_id = w.account_id
                          order by first_number desc limit 1)
    returning 1`
  return rows.length
}

interface DueWebhook {
  readonly id: number
  readonly accountId: number
  /** The account, or its parent. */
  readonly holder: number
  readonly events: readonly WebhookEvent[]
  readonly position: number
  readonly failing: boolean
  readonly slow: boolean
  readonly held: boolean
  /** Whether its account is deleted, so that no one can remove the webhook. */
  readonly ownerless: boolean
}

interface Waiting {
  readonly leased: number
  readonly leasedAside: number
  readonly total: number
  /** Number of batches that are not retried separately, and the lowest number of attempts among them. */
  readonly usual: number
  readonly leastTries: number
}

type OwnBatch = LeasedBatch & {
  /** The events of a new batch, which are already read. */ readonly events?: readonly Event[]
}

export type ClaimedBatch = OwnBatch & Pick<DueWebhook, 'holder'>

/**
 * Claims up to `slots` batches of the webhook that has been due longest, except those of these holders: waiting ones and, if the receiver has
 * capacity, new ones with the events after its position. The lease is committed with the claim, so a process that dies has either claimed nothing or
 * leaves batches that are claimed again when the lease expires.
 *
 * Returns undefined if no webhook is due.
 */
export async function claimBatches(
  sql: Sql,
  slots: number,
  except: readonly number[] = [],
): Promise<ClaimedBatch[] | undefined> {
  return sql.begin(async (transaction) => {
    const [webhook] = await transaction<DueWebhook[]>`
      select w.id, w.account_id as "accountId", coalesce(a.parent_id, w.account_id) as holder, w.events, w.position::float8 as position,
             w.failing_since is not null as failing, w.milliseconds > ${SLOW_MS} as slow,
             coalesce(w.held_until > service_now(), false) as held, coalesce(a.state, 'deleted') = 'deleted' as ownerless
        from webhooks w left join accounts a on a.id = w.account_id
       where w.enabled and w.due_at <= service_now() and coalesce(a.parent_id, w.account_id) <> all(${[...except]}::int[])
       order by w.due_at limit 1 for update of w skip locked`
    if (!webhook) return undefined
    if (webhook.ownerless) {
      await transaction`update webhooks set enabled = false where id = ${webhook.id}`
      return []
    }
    if (webhook.held) {
      await transaction`update webhooks set due_at = held_until where id = ${webhook.id}`
      return []
    }
    const waiting = await countWaiting(transaction, webhook.id)
    const capacity = (webhook.failing || webhook.slow ? 1 : CONCURRENCY) - waiting.leased
    const wanted = Math.min(capacity, slots)
    const claimed = wanted <= 0 ? { batches: [], more: false } : await take(transaction, webhook, waiting, wanted)
    const left = capacity - claimed.batches.length
    await setDue(transaction, webhook.id, { again: claimed.more && left > 0, full: left <= 0 })
    return claimed.batches.map((batch) => ({ ...batch, holder: webhook.holder }))
  }) as Promise<ClaimedBatch[] | undefined>
}

/**
 * Sets when the webhook is due again. A finished request makes it due anyway, so at full capacity only the expiry of leases of dead
 * workers matters. Of the batches that are retried separately, one is in flight at a time.
 */
async function setDue(
  sql: SqlTransaction,
  id: number,
  { again, full }: { again: boolean; full: boolean },
): Promise<void> {
  await sql`
    with waiting as materialized (
      select leased_until > service_now() as leased, leased_until, next_at, aside
        from webhook_batches where webhook_id = ${id} and state = 'waiting'
    )
    update webhooks
       set due_at = case when ${again} then service_now() else
             (select min(case when leased then leased_until
                              when ${full} or (aside and exists (select 1 from waiting where leased and aside)) then null
                              else greatest(next_at, service_now()) end) from waiting) end
     where id = ${id}`
}

interface Taken {
  readonly batches: OwnBatch[]
  /** Whether there may be more events. */
  readonly more: boolean
}

async function take(sql: SqlTransaction, webhook: DueWebhook, waiting: Waiting, wanted: number): Promise<Taken> {
  if (webhook.failing) return probe(sql, webhook, waiting)
  const usual = await lease(sql, webhook.id, { limit: wanted, aside: false, due: true })
  // Batches that are retried separately get one slot, but not the only one.
  const reserved = waiting.leasedAside === 0 && wanted > 1 ? 1 : 0
  const first = await lease(sql, webhook.id, {
    limit: Math.min(reserved, wanted - usual.length),
    aside: true,
    due: true,
  })
  const capacity = wanted - usual.length - first.length
  const fresh = waiting.total < MAX_WAITING ? await createBatches(sql, webhook, capacity) : { batches: [], more: false }
  const left = waiting.leasedAside + first.length > 0 ? 0 : capacity - fresh.batches.length
  const last = await lease(sql, webhook.id, { limit: Math.min(left, 1), aside: true, due: true })
  return { batches: [...usual, ...first, ...fresh.batches, ...last], more: fresh.more }
}

/** Claims one batch, usually a failed one, to probe whether a failing receiver has recovered. */
async function probe(sql: SqlTransaction, webhook: DueWebhook, waiting: Waiting): Promise<Taken> {
  const others = waiting.usual === 0 || (waiting.leastTries >= TRIES && waiting.usual < MAX_WAITING_WHILE_FAILING)
  const fresh = others ? await createBatches(sql, webhook, 1) : { batches: [], more: false }
  if (fresh.batches.length > 0) return { ...fresh, more: false }
  const usual = await lease(sql, webhook.id, { limit: 1, aside: false, due: false })
  if (usual.length > 0) return { batches: usual, more: false }
  return { batches: await lease(sql, webhook.id, { limit: 1, aside: true, due: false }), more: false }
}

async function countWaiting(sql: SqlTransaction, id: number): Promise<Waiting> {
  const [counted] = await sql<Waiting[]>`
    select count(*) filter (where leased_until > service_now())::int as leased,
           count(*) filter (where leased_until > service_now() and aside)::int as "leasedAside",
           count(*)::int as total, count(*) filter (where not aside)::int as usual,
           coalesce(min(attempts) filter (where not aside), 0)::int as "leastTries"
      from webhook_batches where webhook_id = ${id} and state = 'waiting'`
  return counted as Waiting
}

async function lease(
  sql: SqlTransaction,
  id: number,
  { limit, aside, due }: { limit: number; aside: boolean; due: boolean },
): Promise<OwnBatch[]> {
  if (limit <= 0) return []
  return sql<OwnBatch[]>`
    update webhook_batches b
       set lease = b.lease + 1, leased_until = service_now() + make_interval(secs => ${LEASE_SECONDS})
      from (select id from webhook_batches
             where webhook_id = ${id} and state = 'waiting' and aside = ${aside}
               and (leased_until is null or leased_until <= service_now()) and (not ${due} or next_at <= service_now())
             order by failed_at nulls first, next_at limit ${limit} for update) found
     where b.id = found.id
    returning b.id, b.lease, b.webhook_id as "webhookId", b.account_id as "accountId", b.after_number::float8 as "after",
              b.to_number::float8 as "to", b.types, b.attempts`
}

/** Creates batches of the next events and moves the position after them. */
async function createBatches(sql: SqlTransaction, webhook: DueWebhook, limit: number): Promise<Taken> {
  if (limit <= 0) return { batches: [], more: false }
  const { id, accountId, events: types, position } = webhook
  const events: Event[] = []
  let [reached, ended] = [position, false]
  for (let page = 0; page < MAX_PAGES && events.length < limit * BATCH_EVENTS && !ended; page++) {
    const remaining = limit * BATCH_EVENTS - events.length
    const read = await readEvents(sql, { accountId, after: reached, limit: remaining, types })
    ended = read.next === reached
    reached = read.next
    events.push(...read.events)
  }
  if (reached === position) return { batches: [], more: false }
  const batches: OwnBatch[] = []
  for (let after = position, at = 0; at < events.length; at += BATCH_EVENTS) {
    const own = events.slice(at, at + BATCH_EVENTS)
    const to = at + BATCH_EVENTS >= events.length ? reached : (own.at(-1)?.number ?? reached)
    batches.push({ ...(await insertBatch(sql, { id, accountId, after, to, types, count: own.length })), events: own })
    after = to
  }
  await sql`update webhooks set position = ${reached} where id = ${id}`
  return { batches, more: !ended }
}

async function insertBatch(
  sql: SqlTransaction,
  batch: { id: number; accountId: number; after: number; to: number; types: readonly WebhookEvent[]; count: number },
): Promise<LeasedBatch> {
  const [made] = await sql<LeasedBatch[]>`
    insert into webhook_batches (webhook_id, account_id, after_number, to_number, types, events, lease, leased_until)
    values (${batch.id}, ${batch.accountId}, ${batch.after}, ${batch.to}, ${[...batch.types]}::text[], ${batch.count}, 1,
            service_now() + make_interval(secs => ${LEASE_SECONDS}))
    returning id, lease, webhook_id as "webhookId", account_id as "accountId", after_number::float8 as "after",
              to_number::float8 as "to", types, attempts`
  return made as LeasedBatch
}

import type { Event } from '../../events/event.ts'
import type { WebhookEvent } from '../../events/event-types.ts'
import type { AnySql, Sql, SqlTransaction } from '../../platform/database/database.ts'
import { readEvents } from '../events/read.ts'
import type { LeasedBatch } from './webhook.ts'

/** v2 contract 16.2. */
export const BATCH_EVENTS = 100
/** Requests at a time to one receiver that answers in time; others get one. */
const ABREAST = 4
const SLOW_MS = 1500
/** A request takes ten seconds at most; whoever holds a batch longer is gone. */
const LEASE_SECONDS = 20
/** Tries of what waits before a receiver that does not answer is asked with other events: it may be these it can't take. */
const TRIES = 3
/** Batches that wait while a receiver does not answer, and in all. */
const MOST_TRIED = 16
const MOST_WAITING = 1000
/** Pages of numbers one claim reads while none of their events is of interest. */
const PAGES = 20
/** Of the advisory locks, ours. */
const LOOK_LOCK = 7743

/**
 * Makes the webhooks due whose account has events they were not told of. One process at a time; no event is passed over, since
 * position and numbers are compared and no mark has to be kept.
 */
export async function noticeEvents(sql: AnySql): Promise<number> {
  const rows = await sql`
    with turn as materialized (select pg_try_advisory_xact_lock(${LOOK_LOCK}) as mine)
    update webhooks w set due_at = service_now() from turn
     where turn.mine and w.enabled and (w.due_at is null or w.due_at > service_now())
       -- What fails waits for its time, whatever there is to tell.
       and w.failing_since is null and (w.held_until is null or w.held_until <= service_now())
       and w.position < (select first_number + count - 1 from event_pages p where p.account_id = w.account_id
                          order by first_number desc limit 1)
    returning 1`
  return rows.length
}

interface DueWebhook {
  readonly id: number
  readonly accountId: number
  readonly events: readonly WebhookEvent[]
  readonly position: number
  readonly failing: boolean
  readonly slow: boolean
  readonly held: boolean
  /** Its account is deleted: nobody can take it away any more. */
  readonly ownerless: boolean
}

interface Waiting {
  readonly leased: number
  readonly leasedAside: number
  readonly total: number
  /** Not aside: how many, and how often the one that was tried least. */
  readonly usual: number
  readonly leastTries: number
}

export type ClaimedBatch = LeasedBatch & {
  /** Already read, of a batch that is new. */ readonly events?: readonly Event[]
}

/**
 * Takes batches of the webhook that is due longest into this worker's hands, `slots` at most: what waits there and, as far as
 * the receiver can take more at a time, new ones of the events behind its position. The lease is the transaction's: a process
 * that dies has either taken nothing or leaves batches that the next claim finds when the lease is over.
 *
 * Undefined: no webhook is due.
 */
export async function claimBatches(sql: Sql, slots: number): Promise<ClaimedBatch[] | undefined> {
  return sql.begin(async (transaction) => {
    const [webhook] = await transaction<DueWebhook[]>`
      select id, account_id as "accountId", events, position::float8 as position, failing_since is not null as failing,
             milliseconds > ${SLOW_MS} as slow, coalesce(held_until > service_now(), false) as held,
             not exists (select from accounts a where a.id = account_id and a.state <> 'deleted') as ownerless
        from webhooks where enabled and due_at <= service_now() order by due_at limit 1 for update skip locked`
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
    const room = (webhook.failing || webhook.slow ? 1 : ABREAST) - waiting.leased
    const wanted = Math.min(room, slots)
    const claimed = wanted <= 0 ? { batches: [], more: false } : await take(transaction, webhook, waiting, wanted)
    const left = room - claimed.batches.length
    await setDue(transaction, webhook.id, { again: claimed.more && left > 0, full: left <= 0 })
    return claimed.batches
  }) as Promise<ClaimedBatch[] | undefined>
}

/**
 * When the webhook is to be looked at again, if nothing ends before: what ends makes it due by itself, so a full one waits for
 * nothing but leases that end with nobody there. Of those aside one is on its way at a time.
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
  readonly batches: ClaimedBatch[]
  /** There are more events, or may be. */
  readonly more: boolean
}

async function take(sql: SqlTransaction, webhook: DueWebhook, waiting: Waiting, wanted: number): Promise<Taken> {
  if (webhook.failing) return probe(sql, webhook, waiting)
  const usual = await lease(sql, webhook.id, { limit: wanted, aside: false, due: true })
  // What fails for itself gets one of the places, and none that others need where there is only one.
  const reserved = waiting.leasedAside === 0 && wanted > 1 ? 1 : 0
  const first = await lease(sql, webhook.id, {
    limit: Math.min(reserved, wanted - usual.length),
    aside: true,
    due: true,
  })
  const room = wanted - usual.length - first.length
  const fresh = waiting.total < MOST_WAITING ? await cut(sql, webhook, room) : { batches: [], more: false }
  const left = waiting.leasedAside + first.length > 0 ? 0 : room - fresh.batches.length
  const last = await lease(sql, webhook.id, { limit: Math.min(left, 1), aside: true, due: true })
  return { batches: [...usual, ...first, ...fresh.batches, ...last], more: fresh.more }
}

/** One batch, to see whether the receiver answers again: mostly one that it did not take. */
async function probe(sql: SqlTransaction, webhook: DueWebhook, waiting: Waiting): Promise<Taken> {
  const others = waiting.usual === 0 || (waiting.leastTries >= TRIES && waiting.usual < MOST_TRIED)
  const fresh = others ? await cut(sql, webhook, 1) : { batches: [], more: false }
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
): Promise<ClaimedBatch[]> {
  if (limit <= 0) return []
  return sql<ClaimedBatch[]>`
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

/** Makes batches of the next events, and moves the position behind them. */
async function cut(sql: SqlTransaction, webhook: DueWebhook, most: number): Promise<Taken> {
  if (most <= 0) return { batches: [], more: false }
  const { id, accountId, events: types, position } = webhook
  const events: Event[] = []
  let [reached, ended] = [position, false]
  for (let page = 0; page < PAGES && events.length < most * BATCH_EVENTS && !ended; page++) {
    const limit = most * BATCH_EVENTS - events.length
    const read = await readEvents(sql, { accountId, after: reached, limit, types })
    ended = read.next === reached
    reached = read.next
    events.push(...read.events)
  }
  if (reached === position) return { batches: [], more: false }
  const batches: ClaimedBatch[] = []
  for (let after = position, at = 0; at < events.length; at += BATCH_EVENTS) {
    const own = events.slice(at, at + BATCH_EVENTS)
    const to = at + BATCH_EVENTS >= events.length ? reached : (own.at(-1)?.number ?? reached)
    batches.push({ ...(await insertBatch(sql, { id, accountId, after, to, types })), events: own })
    after = to
  }
  await sql`update webhooks set position = ${reached} where id = ${id}`
  return { batches, more: !ended }
}

async function insertBatch(
  sql: SqlTransaction,
  batch: { id: number; accountId: number; after: number; to: number; types: readonly WebhookEvent[] },
): Promise<LeasedBatch> {
  const [made] = await sql<LeasedBatch[]>`
    insert into webhook_batches (webhook_id, account_id, after_number, to_number, types, lease, leased_until)
    values (${batch.id}, ${batch.accountId}, ${batch.after}, ${batch.to}, ${[...batch.types]}::text[], 1,
            service_now() + make_interval(secs => ${LEASE_SECONDS}))
    returning id, lease, webhook_id as "webhookId", account_id as "accountId", after_number::float8 as "after",
              to_number::float8 as "to", types, attempts`
  return made as LeasedBatch
}

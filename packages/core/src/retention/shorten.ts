import type { MostDays } from '../accounts/index.ts'
import { lockBodies } from '../delivery/queue/deletion-locks.ts'
import type { AnySql, Sql } from '../platform/database/database.ts'
import { readEvents } from '../reporting/events/read.ts'
import { deleteBodies } from './delete-bodies.ts'

/** Maximum number of messages whose bodies are deleted in one statement. */
const MESSAGES = 500
/** Interval between two runs for an account. */
const INTERVAL = '10 minutes'

interface Run {
  readonly accountId: number
  readonly bodies: number
  readonly events: number
  /** The account's retention in days, or the operator's by default; `bodyDays` likewise. */
  readonly eventDays: number
  readonly bodyDays: number
  /** Time by the database's clock. */
  readonly now: Date
}

/** Schedules runs for accounts that have their own, shorter retention. */
export async function noteShortKeepers(sql: Sql): Promise<void> {
  await sql`
    insert into retention_cursors (account_id)
    select id from accounts a
     where (event_days is not null or body_days is not null)
       and not exists (select from retention_cursors c where c.account_id = a.id)
    on conflict do nothing`
}

/**
 * Deletes some bodies and a page of events of the next due account after its own retention. Events are deleted by whole pages,
 * together with their sequence numbers, when the end of their week is past the retention. Can be interrupted anywhere. Returns
 * whether another account may be due.
 */
export async function shortenSome(sql: Sql, most: MostDays): Promise<boolean> {
  const run = await takeRun(sql, most)
  if (!run) return false
  const bodiesLeft = run.bodyDays < Math.min(most.bodyDays, most.eventDays) && (await shortenBodies(sql, run))
  // Bodies are found by the events of their messages, so events are deleted later.
  const eventsLeft = !bodiesLeft && run.eventDays < most.eventDays && (await deletePage(sql, run))
  if (bodiesLeft || eventsLeft) {
    await sql`update retention_cursors set due_at = service_now() where account_id = ${run.accountId}`
  }
  return true
}

async function takeRun(sql: Sql, most: MostDays): Promise<Run | undefined> {
  const [run] = await sql<Run[]>`
    with run as (
      update retention_cursors set due_at = service_now() + ${INTERVAL}::text::interval
       where account_id = (select account_id from retention_cursors where due_at <= service_now()
                            order by due_at limit 1 for update skip locked)
      returning account_id, bodies, events
    )
    select t.account_id as "accountId", t.bodies::float8 as bodies, t.events::float8 as events, service_now() as now,
           least(a.event_days, ${most.eventDays}::int) as "eventDays",
           least(a.body_days, a.event_days, ${most.bodyDays}::int, ${most.eventDays}::int) as "bodyDays"
      from run t join accounts a on a.id = t.account_id`
  return run
}

/** Each message has one of these when it is accepted: `dropped` or `invalid` if all its recipients were refused. */
const FIRST_EVENTS = ['processed', 'dropped', 'invalid'] as const

/** Deletes bodies, except those of queued mail, which are dropped with their partition. Returns whether more may be due. */
async function shortenBodies(sql: Sql, { accountId, bodies: after, bodyDays, now }: Run): Promise<boolean> {
  const { events, next } = await readEvents(sql, { accountId, after, limit: MESSAGES, types: FIRST_EVENTS })
  const until = now.getTime() - bodyDays * 86_400_000
  const young = events.findIndex(({ occurredAt }) => occurredAt.getTime() > until)
  const old = young === -1 ? events : events.slice(0, young)
  const position = young === -1 ? next : (old.at(-1)?.number ?? after)
  if (position === after) return false
  const ids = [...new Set(old.flatMap(({ delivery }) => (delivery ? [delivery.messageId] : [])))]
  await sql.begin(async (transaction) => {
    await lockBodies(transaction, accountId)
    await deleteBodies(transaction, accountId, ids, { evenQueued: false })
    await transaction`update retention_cursors set bodies = ${position} where account_id = ${accountId}`
  })
  return young === -1
}

/** Deletes the events of the account's next expired page. Returns whether there was one. */
async function deletePage(sql: Sql, { accountId, events: after, eventDays }: Run): Promise<boolean> {
  return sql.begin(async (transaction) => {
    // Pages of two weeks may alternate. A deleted page is not found again; an account's last page is never deleted.
    const [page] = await transaction<{ first: number; last: number }[]>`
      select first_number::float8 as first, (first_number + count - 1)::float8 as last from event_pages p
       where account_id = ${accountId} and week + make_interval(days => 7 + ${eventDays}::int) <= service_now()
         and (first_number > ${after} or exists (${isFollowed(transaction)}))
       order by first_number limit 1 for update`
    if (!page) return false
    await transaction`
      delete from events e using event_pages p
       where p.account_id = ${accountId} and p.first_number = ${page.first} and e.account_id = p.account_id
         and e.transaction > p.after_transaction and e.transaction <= p.to_transaction
         and e.occurred_at >= p.week and e.occurred_at < p.week + interval '7 days'`
    // Never the last page, because it determines the next sequence number.
    await transaction`
      delete from event_pages p
       where account_id = ${accountId} and first_number = ${page.first}
         and exists (${isFollowed(transaction)})`
    await transaction`update retention_cursors set events = greatest(events, ${page.last}::bigint) where account_id = ${accountId}`
    return true
  }) as Promise<boolean>
}

const isFollowed = (sql: AnySql) =>
  sql`select from event_pages n where n.account_id = p.account_id and n.first_number > p.first_number`

import type { MostDays } from '../accounts/index.ts'
import type { AnySql, Sql } from '../platform/database/database.ts'
import { readEvents } from '../reporting/events/read.ts'

/** Messages whose bodies are deleted in one statement. */
const MESSAGES = 500
/** An account's turn comes this often. */
const EVERY = '10 minutes'

interface Turn {
  readonly accountId: number
  readonly bodies: number
  readonly events: number
  /** Of the account, the operator's where it has none of its own. */
  readonly eventDays: number
  readonly bodyDays: number
  /** By the database's clock. */
  readonly now: Date
}

/** Has accounts that keep less than the operator does take their turns from now on. */
export async function noteShortKeepers(sql: Sql): Promise<void> {
  await sql`
    insert into retention_cursors (account_id)
    select id from accounts a
     where (event_days is not null or body_days is not null)
       and not exists (select from retention_cursors c where c.account_id = a.id)
    on conflict do nothing`
}

/**
 * One account's turn: deletes some bodies and a page of events that are past the account's own days. Events go by whole pages,
 * with what numbers them, when their week is over for so long. May be cut off anywhere. Answers whether there is more to do at
 * once, for it or for another account.
 */
export async function shortenSome(sql: Sql, most: MostDays): Promise<boolean> {
  const turn = await takeTurn(sql, most)
  if (!turn) return false
  const bodiesLeft = turn.bodyDays < Math.min(most.bodyDays, most.eventDays) && (await deleteBodies(sql, turn))
  // Bodies are found by the events of their messages: these go later.
  const eventsLeft = !bodiesLeft && turn.eventDays < most.eventDays && (await deletePage(sql, turn))
  if (bodiesLeft || eventsLeft) {
    await sql`update retention_cursors set due_at = service_now() where account_id = ${turn.accountId}`
  }
  return true
}

async function takeTurn(sql: Sql, most: MostDays): Promise<Turn | undefined> {
  const [turn] = await sql<Turn[]>`
    with turn as (
      update retention_cursors set due_at = service_now() + ${EVERY}::text::interval
       where account_id = (select account_id from retention_cursors where due_at <= service_now()
                            order by due_at limit 1 for update skip locked)
      returning account_id, bodies, events
    )
    select t.account_id as "accountId", t.bodies::float8 as bodies, t.events::float8 as events, service_now() as now,
           least(a.event_days, ${most.eventDays}::int) as "eventDays",
           least(a.body_days, a.event_days, ${most.bodyDays}::int, ${most.eventDays}::int) as "bodyDays"
      from turn t join accounts a on a.id = t.account_id`
  return turn
}

/** Of mail that waits the body stays; it goes with its partition. Answers whether there may be more. */
async function deleteBodies(sql: Sql, { accountId, bodies: after, bodyDays, now }: Turn): Promise<boolean> {
  const { events, next } = await readEvents(sql, { accountId, after, limit: MESSAGES, types: ['processed'] })
  const until = now.getTime() - bodyDays * 86_400_000
  const young = events.findIndex(({ occurredAt }) => occurredAt.getTime() > until)
  const old = young === -1 ? events : events.slice(0, young)
  const position = young === -1 ? next : (old.at(-1)?.number ?? after)
  if (position === after) return false
  const ids = [...new Set(old.flatMap(({ delivery }) => (delivery ? [delivery.messageId] : [])))]
  await sql`
    delete from bodies b using unnest(${ids}::uuid[]) as w(id)
     where b.message_id = w.id and not exists (select from delivery_queue q where q.message_id = w.id)`
  await sql`update retention_cursors set bodies = ${position} where account_id = ${accountId}`
  return young === -1
}

/** Deletes the events of the account's next page that is past its days. Answers whether there was one. */
async function deletePage(sql: Sql, { accountId, events: after, eventDays }: Turn): Promise<boolean> {
  return sql.begin(async (transaction) => {
    // Pages of two weeks may take turns; one that is gone is not met again, but for an account's last.
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
    // Never the last one: it knows which number comes next.
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

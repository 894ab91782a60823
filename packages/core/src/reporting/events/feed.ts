import type { Event } from '../../events/event.ts'
import type { AnySql } from '../../platform/database/database.ts'
import { continueFrom, currentEpoch } from './epochs.ts'
import { type EventQuery, readEvents } from './read.ts'
import type { Watch } from './watch.ts'

export interface FeedQuery extends EventQuery {
  /** The epoch in which `after` was returned; undefined for the present one. */
  readonly epoch?: number | undefined
  /** Milliseconds to wait if there are no events after `after`. */
  readonly milliseconds: number
  /** Ends the wait. */
  readonly signal: AbortSignal
}

export interface FeedPage {
  readonly events: readonly Event[]
  /** Value of `after` for the next query: all events up to this number have been read. */
  readonly next: number
  /** The latest sequence number; 0 if there was no event yet. */
  readonly last: number
  /** The sequence number of the oldest stored event; the next number if none is stored. */
  readonly oldest: number
  /** 1, and one more since each restore of the database to an earlier moment. */
  readonly epoch: number
}

/** Maximum number of pages read per response if few events, or none, have the requested types. */
const MAX_PAGES = 20

/** Returns the events after a sequence number, and waits for them if there are none. */
export async function readFeed(
  { sql, watch }: { sql: AnySql; watch: Watch },
  { milliseconds, signal, epoch, ...question }: FeedQuery,
): Promise<FeedPage> {
  const deadline = performance.now() + milliseconds
  let { after } = epoch === undefined ? question : { after: await continueFrom(sql, { ...question, epoch }) }
  for (;;) {
    const { events, next, all } = await readOn(sql, { ...question, after })
    after = next
    const left = deadline - performance.now()
    const waited =
      events.length === 0 && all
        ? await watch.wait({ accountId: question.accountId, after, milliseconds: left, signal })
        : 'over'
    if (waited !== 'more') {
      return { events, next, ...(await rangeOf(sql, question.accountId)), epoch: await currentEpoch(sql) }
    }
  }
}

/** Reads on past pages without events of the requested types. `all` is whether the last page was reached. */
async function readOn(sql: AnySql, question: EventQuery): Promise<{ events: Event[]; next: number; all: boolean }> {
  const events: Event[] = []
  let { after } = question
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await readEvents(sql, { ...question, after, limit: question.limit - events.length })
    if (page.next === after) return { events, next: after, all: true }
    events.push(...page.events)
    after = page.next
    if (events.length >= question.limit) break
  }
  return { events, next: after, all: false }
}

/** Returns the range of numbers. An account's last page outlives its events, because it determines the next number. */
async function rangeOf(sql: AnySql, accountId: number): Promise<{ last: number; oldest: number }> {
  const [range] = await sql<{ last: number; oldest: number }[]>`
    select (l.first_number + l.count - 1)::float8 as last,
           (f.first_number + case when kept.any then 0 else f.count end)::float8 as oldest
      from (select first_number, count from event_pages where account_id = ${accountId} order by first_number desc limit 1) l
     cross join (select * from event_pages where account_id = ${accountId} order by first_number limit 1) f
     cross join lateral (
       select exists (select from events e
                       where e.account_id = ${accountId} and e.transaction > f.after_transaction
                         and e.transaction <= f.to_transaction
                         and e.occurred_at >= f.week and e.occurred_at < f.week + interval '7 days') as any) kept`
  return range ?? { last: 0, oldest: 1 }
}

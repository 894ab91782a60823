import type { Event } from '../../events/event.ts'
import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import { readEvents } from '../events/read.ts'
import { typesOf, wantedBy } from './kinds.ts'

/** Events read at a time; each comes with its delivery, about a kilobyte. */
const READ_AT_ONCE = 2000

export interface SpanQuestion {
  readonly accountId: number
  readonly kinds: readonly string[]
  readonly beginsAt: Date
  readonly endsAt: Date
}

/** All numbers behind `position` up to `last`. */
export interface NumberRange {
  readonly position: number
  readonly last: number
}

export interface Run {
  readonly events: readonly Event[]
  /** All up to here was looked at. */
  readonly position: number
}

/**
 * Where among the account's numbers, as far as they are given, the events of a span lie. Events are numbered some moments after
 * they happened, and in pages, so the first of them may be those of the day before.
 */
export async function rangeOf(sql: AnySql, { accountId, beginsAt, endsAt }: SpanQuestion): Promise<NumberRange> {
  return onlyRow(
    await sql<NumberRange[]>`
      select coalesce(min(first_number) - 1, 0)::float8 as position, coalesce(max(first_number + count - 1), 0)::float8 as last
        from event_pages
       where account_id = ${accountId} and week >= date_trunc('week', ${beginsAt}::timestamptz, 'UTC')
         and week < ${endsAt}::timestamptz
         -- A large account's week has a thousand pages: 2.6 s to come from Monday to Friday.
         and (timed is distinct from count or (earliest < ${endsAt}::timestamptz and latest >= ${beginsAt}::timestamptz))`,
  )
}

/** The next run of the events of a span, in the order of their numbers; may hold none though there are more. */
export async function readRun(sql: AnySql, question: SpanQuestion, { position, last }: NumberRange): Promise<Run> {
  const { accountId, kinds, beginsAt, endsAt } = question
  const types = typesOf(kinds)
  const page = await readEvents(sql, { accountId, after: position, limit: READ_AT_ONCE, types })
  const isWanted = wantedBy(kinds)
  const events = page.events.filter(
    (event) => event.number <= last && event.occurredAt >= beginsAt && event.occurredAt < endsAt && isWanted(event),
  )
  return { events, position: page.next === position ? last : Math.min(page.next, last) }
}

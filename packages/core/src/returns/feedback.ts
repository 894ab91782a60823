import type { AnySql } from '../platform/database/database.ts'

/** The complaints that one provider reported. */
export interface FeedbackOfReporter {
  /** The domain that the reports name as their sender, unverified; empty if they name none. */
  readonly reporter: string
  readonly complaints: number
  /** Without a valid mark: nothing followed from them. */
  readonly unmatched: number
  readonly firstAt: Date
  readonly lastAt: Date
}

/** Domains in an answer. Anybody can write a domain into a report. */
const MAX_REPORTERS = 100

/** Returns the complaints of stored returns by the domain that sent them, most first. */
export async function selectFeedback(sql: AnySql): Promise<FeedbackOfReporter[]> {
  return sql<FeedbackOfReporter[]>`
    select reporter, count(*)::int as complaints, (count(*) filter (where why = 'unsigned'))::int as unmatched,
           min(received_at) as "firstAt", max(received_at) as "lastAt"
      from returns where kind = 'complaint'
     group by reporter order by complaints desc, reporter limit ${MAX_REPORTERS}`
}

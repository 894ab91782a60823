import type { AnySql } from '../platform/database/database.ts'

/** The complaints that one provider reported. */
export interface FeedbackOfReporter {
  /** The domain that the reports name as their sender, unverified; empty if they name none. */
  readonly reporter: string
  /** Deliveries that it was the first to report, and reports without a valid mark. */
  readonly complaints: number
  /** Without a valid mark: nothing followed from them. */
  readonly unmatched: number
  readonly firstAt: Date
  readonly lastAt: Date
}

/** Domains in an answer. Anybody can write a domain into a report. */
const MAX_REPORTERS = 100

/**
 * Returns the complaints of stored returns by the domain that sent them, most first. A delivery that was reported several times counts once:
 * providers repeat reports, and an account of a person may be read by several programs.
 */
export async function selectFeedback(sql: AnySql): Promise<FeedbackOfReporter[]> {
  return sql<FeedbackOfReporter[]>`
    with complaint as (
      select distinct on (coalesce(message_id, id), recipient_no) reporter, why, received_at
        from returns where kind = 'complaint'
       order by coalesce(message_id, id), recipient_no, id
    )
    select reporter, count(*)::int as complaints, (count(*) filter (where why = 'unsigned'))::int as unmatched,
           min(received_at) as "firstAt", max(received_at) as "lastAt"
      from complaint
     group by reporter order by complaints desc, reporter limit ${MAX_REPORTERS}`
}

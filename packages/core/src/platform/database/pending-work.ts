import { onlyRow, type Sql } from './database.ts'

/** Kinds of work of a worker's loops, named by the tables whose rows are that work: while a table is empty, there is none. */
export type Work = 'hits' | 'forget_requests' | 'queue_jobs' | 'export_jobs' | 'webhooks'

/** Milliseconds for which an answer counts, so that loops whose rounds begin together share it. */
const SHARED_MS = 100

export interface PendingWork {
  /** Whether there may be work of this kind. */
  has(work: Work): Promise<boolean>
}

/**
 * Asks once for all loops whether there may be work. Each would otherwise ask in a transaction of its own, once or twice per second: of an idle
 * installation these were a third of all statements.
 */
export function createPendingWork(sql: Sql): PendingWork {
  let answer: { readonly until: number; readonly rows: Promise<Record<Work, boolean>> } | undefined

  async function read(): Promise<Record<Work, boolean>> {
    // The first hit by the index, since hits are deleted all the time.
    return onlyRow(
      await sql<Record<Work, boolean>[]>`
        select (select true from hits order by at limit 1) is true as hits, exists (select from forget_requests) as forget_requests,
               exists (select from queue_jobs) as queue_jobs, exists (select from export_jobs) as export_jobs,
               exists (select from webhooks) as webhooks`,
    )
  }

  return {
    async has(work) {
      if (!answer || performance.now() > answer.until) answer = { until: performance.now() + SHARED_MS, rows: read() }
      return (await answer.rows)[work]
    },
  }
}

import { pause, within } from '../platform/concurrency/timer-delay.ts'
import { createGroupCommit } from '../platform/database/commits/group-commit.ts'
import { type AnySql, isDatabaseTrouble, type Sql } from '../platform/database/database.ts'
import type { Log } from '../platform/process/log.ts'
import type { Hit } from './hit.ts'
import { MACHINE_RULES_VERSION } from './machine-rules.ts'

/** Milliseconds for which a response waits for the database; after that the hit is written later. */
const RESPONSE_TIMEOUT_MS = 2000
/** Milliseconds for which a hit is buffered while the database is unavailable. */
const MAX_AGE_MS = 300_000
/** Limits of the buffer in this process. */
const MAX_BUFFERED = { hits: 10_000, bytes: 16 * 1024 * 1024 } as const
/** Number of waiting hits above which responses do not wait for the commit, so that a flood gets immediate responses. */
const MAX_AWAITED = 1000
/** Hits in one statement. */
const BATCH = 500
/** Milliseconds between two log lines about lost hits. */
const LOG_INTERVAL_MS = 60_000
/** Milliseconds for which shutdown waits for buffered hits. */
const SHUTDOWN_TIMEOUT_MS = 3000

export interface HitBuffer {
  /** Returns when the hit is in the database, or when the response should no longer wait for that. Never throws. */
  take(hit: Hit): Promise<void>
  /** Waits up to three seconds for hits that are not written yet. */
  close(): Promise<void>
}

/**
 * Writes hits, many per commit and one commit at a time, so that a flood uses only one connection of the pool. While the database
 * is unavailable, hits are buffered in memory; those that exceed the buffer or wait too long are lost.
 */
export function createHitBuffer({ sql, log }: { sql: Sql; log: Log }): HitBuffer {
  let bytes = 0
  let lost = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  /** Time by performance.now() after which nothing is retried. */
  let end = Number.POSITIVE_INFINITY
  const hits = createGroupCommit<Hit, void>({
    write: (batch) => untilWritten(batch),
    weigh: () => 1,
    maxItems: BATCH,
    maxWeight: BATCH,
    sharedFault: isDatabaseTrouble,
    patience: () => MAX_AGE_MS,
    late: () => new Error('buffered too long'),
    lanes: 1,
  })

  async function untilWritten(batch: readonly Hit[]): Promise<undefined[]> {
    const deadline = performance.now() + MAX_AGE_MS
    for (let attempt = 1; ; attempt++) {
      try {
        // In a transaction, so that the age of a hit is computed once a connection is available. A single statement would wait with the
        // age it had before, for as long as the pool needs to connect again.
        await sql.begin((transaction) => insertHits(transaction, batch))
        return batch.map(() => undefined)
      } catch (error) {
        if (!isDatabaseTrouble(error) || performance.now() > Math.min(deadline, end)) throw error
        if (attempt === 1) log.warn({ err: error }, 'database unavailable, buffering opens and clicks')
        await pause(Math.min(50 * 2 ** attempt, 1000))
      }
    }
  }

  function reportLost(err?: unknown): void {
    lost++
    const now = performance.now()
    if (now - loggedAt < LOG_INTERVAL_MS) return
    log.warn({ err, lost }, 'opens and clicks lost')
    loggedAt = now
    lost = 0
  }

  return {
    async take(hit) {
      const size = sizeOf(hit)
      if (hits.size >= MAX_BUFFERED.hits || bytes + size > MAX_BUFFERED.bytes) return reportLost()
      bytes += size
      const written = hits
        .add(hit)
        .catch(reportLost)
        .finally(() => {
          bytes -= size
        })
      if (hits.size <= MAX_AWAITED) await within(RESPONSE_TIMEOUT_MS, written)
    },
    async close() {
      end = performance.now() + SHUTDOWN_TIMEOUT_MS
      while (hits.size > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20))
    },
  }
}

function sizeOf({ url, userAgent }: Hit): number {
  return 500 + 2 * ((url?.length ?? 0) + (userAgent?.length ?? 0))
}

/** Inserts hits. In privacy mode no data of the client are written, not even until the hit is classified. */
async function insertHits(sql: AnySql, batch: readonly Hit[]): Promise<void> {
  const column = <K extends keyof Hit>(name: K): Hit[K][] => batch.map((hit) => hit[name])
  const ages = batch.map(({ arrived }) => Math.max(0, (performance.now() - arrived) / 1000))
  await sql`
    insert into hits (id, at, account_id, message_id, recipient_no, kind, link, url, ip, user_agent, machine, rules)
    select h.id, service_now() - make_interval(secs => h.age), h.account_id, h.message_id, h.recipient_no, h.kind, h.link, h.url,
           case when not a.privacy_mode then h.ip end, case when not a.privacy_mode then h.user_agent end, h.machine,
           ${MACHINE_RULES_VERSION}::smallint
      from unnest(${column('id')}::uuid[], ${ages}::float8[], ${column('accountId')}::int[], ${column('messageId')}::uuid[],
                  ${column('recipientNo')}::int[], ${column('kind')}::text[], ${column('link')}::int[], ${column('url')}::text[],
                  ${column('ip')}::text[], ${column('userAgent')}::text[], ${column('machine')}::text[])
           as h(id, age, account_id, message_id, recipient_no, kind, link, url, ip, user_agent, machine)
      join accounts a on a.id = h.account_id and a.state <> 'deleted'
    on conflict do nothing`
}

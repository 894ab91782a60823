import { type AnySql, isDatabaseTrouble, type Sql } from '../platform/database/database.ts'
import { createGroupCommit } from '../platform/database/group-commit.ts'
import type { Log } from '../platform/log.ts'
import type { Hit } from './hit.ts'
import { MACHINE_RULES_VERSION } from './machine-rules.ts'

/** Milliseconds a reader waits for the database; then he gets his pixel or page, and the hit is written when it can be. */
const PATIENCE_MS = 2000
/** Milliseconds a hit is kept while the database is away. */
const KEPT_MS = 300_000
/** What is kept meanwhile, of this process. */
const KEPT = { hits: 10_000, octets: 16 * 1024 * 1024 } as const
/** Beyond so many that wait for their commit nobody waits any longer: a flood is answered at once. */
const WAITED_FOR = 1000
/** Hits in one statement. */
const BATCH = 500
/** Milliseconds between two lines of the log about hits that were lost. */
const TOLD_EVERY = 60_000
/** Milliseconds the process gives what still waits when it ends. */
const LAST_WAIT_MS = 3000

export interface HitTaker {
  /** Answers when the hit is in the database, or nobody should wait for that any longer. Never throws. */
  take(hit: Hit): Promise<void>
  /** Waits a moment for what is not written yet. */
  close(): Promise<void>
}

/**
 * Writes hits, many in a commit, and one commit at a time: a flood of them takes one connection of the pool and no more. While
 * the database is away they wait in memory, within bounds; what does not fit, or waits too long, is lost.
 */
export function takerOf({ sql, log }: { sql: Sql; log: Log }): HitTaker {
  let octets = 0
  let lost = 0
  let toldAt = Number.NEGATIVE_INFINITY
  /** performance.now() until which anything is tried at all. */
  let end = Number.POSITIVE_INFINITY
  const hits = createGroupCommit<Hit, void>({
    write: (batch) => untilWritten(batch),
    weigh: () => 1,
    maxItems: BATCH,
    maxWeight: BATCH,
    sharedFault: isDatabaseTrouble,
    patience: () => KEPT_MS,
    late: () => new Error('kept too long'),
    lanes: 1,
  })

  async function untilWritten(batch: readonly Hit[]): Promise<undefined[]> {
    const deadline = performance.now() + KEPT_MS
    for (let attempt = 1; ; attempt++) {
      try {
        if (attempt === 1) await insertHits(sql, batch)
        // How long ago a hit was is to be reckoned when there is a connection, and not before the wait for one.
        else await sql.begin((transaction) => insertHits(transaction, batch))
        return batch.map(() => undefined)
      } catch (error) {
        if (!isDatabaseTrouble(error) || performance.now() > Math.min(deadline, end)) throw error
        if (attempt === 1) log.warn({ err: error }, 'the database can not write now; opens and clicks wait')
        await new Promise((resolve) => setTimeout(resolve, Math.min(50 * 2 ** attempt, 1000)))
      }
    }
  }

  function tellLost(err?: unknown): void {
    lost++
    const now = performance.now()
    if (now - toldAt < TOLD_EVERY) return
    log.warn({ err, lost }, 'opens and clicks were answered and not recorded')
    toldAt = now
    lost = 0
  }

  return {
    async take(hit) {
      const size = sizeOf(hit)
      if (hits.size >= KEPT.hits || octets + size > KEPT.octets) return tellLost()
      octets += size
      const written = hits
        .add(hit)
        .catch(tellLost)
        .finally(() => {
          octets -= size
        })
      if (hits.size <= WAITED_FOR) await within(PATIENCE_MS, written)
    },
    async close() {
      end = performance.now() + LAST_WAIT_MS
      while (hits.size > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20))
    },
  }
}

function sizeOf({ url, userAgent }: Hit): number {
  return 500 + 2 * ((url?.length ?? 0) + (userAgent?.length ?? 0))
}

async function within(milliseconds: number, done: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  await Promise.race([done, promise])
  clearTimeout(timer)
}

/** In privacy mode nothing of the reader is written, not even for the moment until the hit is judged. */
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

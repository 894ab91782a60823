import { setTimeout as wait } from 'node:timers/promises'
import { oldestRemoval } from '../composition/oldest-removal.ts'
import { flowWalk } from '../delivery/queue/flows.ts'
import { backupAccess } from '../platform/backups/backup-access.ts'
import { PATIENCE } from '../platform/backups/backup-store.ts'
import { lastBackupAt } from '../platform/backups/base-backups.ts'
import { openBackupStore } from '../platform/backups/open-backup-store.ts'
import type { BackupConfig } from '../platform/config/backups.ts'
import type { Config } from '../platform/config/config.ts'
import { onlyRow, type Sql } from '../platform/database/database.ts'
import { readDatabaseHealth } from '../platform/database/database-health.ts'
import type { Measured } from '../platform/metrics/metrics.ts'
import { createDiskFigures } from './disk-figures.ts'
import { readServiceCounts, type ServiceCounts } from './service-counts.ts'

/** Milliseconds for which figures are used again, however often the metrics are read. */
const REUSE_MS = 10_000
/** The same for the list of base backups, which in object storage is a request that is paid for. */
const REUSE_BACKUPS_MS = 60_000
/** Milliseconds for which a read of the metrics waits for that list: Prometheus gives up after ten seconds, by default. */
const WAIT_FOR_BACKUPS_MS = 1000
/** Flows that are looked at; each costs one or two index probes. */
const MAX_FLOWS = 5000

/**
 * Returns a function that reads the gauges that are the same for every process: the queue, the lag of events, the database. It reads
 * catalogs and indexes, and no more than a few rows of any table; the counts of service-counts.ts once a minute for all processes together.
 */
export function createServiceFigures(
  sql: Sql,
  config: Pick<Config, 'backups' | 'bodyStore' | 'dataDir'>,
): () => Promise<Measured> {
  let last: { readonly at: number; readonly figures: Promise<Measured> } | undefined
  const backupFigures = config.backups ? createBackupFigures(config.backups) : async () => ({})
  const diskFigures = createDiskFigures(config)
  const hostFigures = async () => Object.assign({}, ...(await Promise.all([backupFigures(), diskFigures()])))
  return () => {
    if (!last || performance.now() - last.at >= REUSE_MS) {
      const read = { at: performance.now(), figures: readFigures(sql, config, hostFigures) }
      last = read
      read.figures.catch(() => {
        if (last === read) last = undefined
      })
    }
    return last.figures
  }
}

async function readFigures(
  sql: Sql,
  { bodyStore }: Pick<Config, 'bodyStore'>,
  hostFigures: () => Promise<Measured>,
): Promise<Measured> {
  const [queue, health] = [await readQueue(sql), await readDatabaseHealth(sql)]
  const { archiveAge, archiveFailures } = health
  return {
    queue_deliveries: queue.deliveries,
    queue_oldest_due_seconds: queue.oldestDue,
    workers: queue.workers,
    events_lag_seconds: queue.eventsLag,
    database_bytes: health.size,
    database_connections: health.connections,
    database_connections_limit: health.maxConnections,
    database_oldest_transaction_seconds: health.oldestTransaction ?? 0,
    database_replica_lag_bytes: health.replicaBehind ?? undefined,
    database_partition_weeks: health.weeksAhead,
    database_transaction_id_ratio: queue.transactionIds,
    ...(archiveAge === null
      ? {}
      : { database_archive_age_seconds: archiveAge, database_archive_failures: archiveFailures }),
    ...(bodyStore ? { object_removals_seconds: await oldestRemoval(sql) } : {}),
    ...countFigures(await readServiceCounts(sql)),
    ...(await hostFigures()),
  }
}

function countFigures(counts: ServiceCounts | undefined): Measured {
  if (counts === undefined) return {}
  return {
    domains_inactive: counts.inactiveDomains,
    domains_failing: counts.failingDomains,
    webhooks_disabled: counts.disabledWebhooks,
    sources_listed: counts.listedSources,
  }
}

/**
 * While the storage does not respond, the age of the last backup that was seen grows. Before it has responded once, there is no age. One
 * that is slow is waited for briefly, and its response is in the figures after these.
 */
function createBackupFigures({ address, everyHours }: BackupConfig): () => Promise<Measured> {
  let began: number | undefined
  let readAt = Number.NEGATIVE_INFINITY
  const read = async () => {
    const store = await openBackupStore(backupAccess(address), PATIENCE.short)
    try {
      began = (await lastBackupAt(store))?.getTime() ?? Number.NEGATIVE_INFINITY
    } finally {
      store.close()
    }
  }
  return async () => {
    if (performance.now() - readAt >= REUSE_BACKUPS_MS) {
      readAt = performance.now()
      // "postrider doctor" says why it failed.
      const ended = read().catch(() => {})
      await Promise.race([ended, wait(WAIT_FOR_BACKUPS_MS, undefined, { ref: false })])
    }
    const age = began === undefined ? undefined : (Date.now() - began) / 1000
    return { backup_age_seconds: age, backup_interval_seconds: everyHours * 3600 }
  }
}

interface QueueFigures {
  readonly deliveries: number
  readonly oldestDue: number
  readonly workers: number
  readonly eventsLag: number
  readonly transactionIds: number
}

/** Times are in seconds. Parked mail counts as due from the time at which it is tried in any case. */
async function readQueue(sql: Sql): Promise<QueueFigures> {
  return onlyRow(
    await sql<QueueFigures[]>`
      with recursive flow as (${flowWalk(sql, MAX_FLOWS)})
      select (select coalesce(n_live_tup, 0)::float8 from pg_stat_user_tables where relid = 'delivery_queue'::regclass) as deliveries,
             (select greatest(coalesce(extract(epoch from service_now() - min(head.next_at)), 0), 0)::float8
                from flow cross join lateral (
                  select next_at from delivery_queue q
                   where q.worker_id is null and q.account_id = flow.account_id and q.class = flow.class
                   order by next_at limit 1) head) as "oldestDue",
             (select count(*)::int from workers) as workers,
             (select greatest(coalesce(max(extract(epoch from service_now() - e.occurred_at)), 0), 0)::float8
                from event_cursors c cross join lateral (
                  select occurred_at from events where transaction > c.transaction order by transaction limit 1) e
               where c.name = 'numbers') as "eventsLag",
             (select age(datfrozenxid)::float8 / 2147483648 from pg_database where datname = current_database()) as "transactionIds"`,
  )
}

import { onlyRow, type Sql } from './database.ts'

/** The state of the database, as an operator watches it. */
export interface DatabaseHealth {
  readonly version: string
  /** Octets of this database. */
  readonly size: number
  /** Connections to this database, and those that the server allows in all. */
  readonly connections: number
  readonly maxConnections: number
  /** Seconds since the oldest open transaction of this database began: rows that were deleted since cannot be cleaned up. Null if there is none. */
  readonly oldestTransaction: number | null
  /** Weeks from now for which messages have a partition. */
  readonly weeksAhead: number
  /** When the queue was last vacuumed; null if it never was. */
  readonly vacuumedAt: Date | null
  /** The replica that is furthest behind, in octets; null if there is none, or if this role may not see it. */
  readonly replicaBehind: number | null
  /** Seconds since a segment was archived, or the server's statistics were reset if none was; null without archiving. */
  readonly archiveAge: number | null
  /** Failed attempts to archive a segment. */
  readonly archiveFailures: number
}

/** Reads the catalogs and the server's own statistics; no table of the service. */
export async function readDatabaseHealth(sql: Sql): Promise<DatabaseHealth> {
  return onlyRow(
    await sql<DatabaseHealth[]>`
      select current_setting('server_version') as version, pg_database_size(current_database())::float8 as size,
             (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
             current_setting('max_connections')::int as "maxConnections",
             (select extract(epoch from clock_timestamp() - min(xact_start))::float8 from pg_stat_activity
               where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()) as "oldestTransaction",
             (select count(*)::int from pg_inherits i join pg_class c on c.oid = i.inhrelid
               where i.inhparent = 'messages'::regclass and c.relname ~ '^messages_[0-9]{4}w[0-9]{2}$'
                 and to_date(right(c.relname, 7), 'IYYY"w"IW') > service_now()::date) as "weeksAhead",
             (select greatest(last_vacuum, last_autovacuum) from pg_stat_user_tables where relname = 'delivery_queue') as "vacuumedAt",
             (select max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::float8 from pg_stat_replication
               where not pg_is_in_recovery()) as "replicaBehind",
             case when current_setting('archive_mode') = 'on' then
               extract(epoch from clock_timestamp() - coalesce(a.last_archived_time, a.stats_reset))::float8 end as "archiveAge",
             a.failed_count::float8 as "archiveFailures"
        from pg_stat_archiver a`,
  )
}

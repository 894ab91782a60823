import { onlyRow, type Sql } from './database.ts'

/** Settings that promise P1 depends on: with one of them off an acknowledged message can be lost. */
export const DURABILITY = ['fsync', 'full_page_writes', 'synchronous_commit'] as const

/** The database server, its settings and its age, as `postrider doctor` evaluates them. */
export interface ServerState {
  /** "18.4". */
  readonly version: string
  /** 180004. */
  readonly versionNumber: number
  readonly isStandby: boolean
  /** Milliseconds by which this host's clock is ahead of the database's, as far as the time of the query shows: 0 if it may be equal. */
  readonly hostAhead: number
  /** Those of {@link DURABILITY} that are off. */
  readonly unsafe: readonly string[]
  /** Settings of the server that are off although tables can be vacuumed only with them: autovacuum, track_counts. */
  readonly vacuumOff: readonly string[]
  readonly hasChecksums: boolean
  /** Client connections of all databases, those that the server allows, and how many of these are for administrators. */
  readonly connections: number
  readonly maxConnections: number
  readonly reservedConnections: number
  /** off, on or always. */
  readonly archiveMode: string
  readonly archivedAt: Date | null
  /** When archiving last failed; null if it never did. */
  readonly archiveFailedAt: Date | null
  /** Transactions since the oldest unfrozen one of all databases. The server stops accepting writes at some 2,100 million. */
  readonly transactionAge: number
  /** The same for ids of rows locked by several transactions. */
  readonly multixactAge: number
  /** Bytes of this database. */
  readonly size: number
}

/** Reads settings and statistics of the server; no table of the service. */
export async function readServerState(sql: Sql): Promise<ServerState> {
  const [before, began] = [Date.now(), performance.now()]
  const { now, ...state } = onlyRow(
    await sql<(Omit<ServerState, 'hostAhead'> & { now: number })[]>`
      select extract(epoch from clock_timestamp())::float8 * 1000 as now,
             current_setting('server_version') as version, current_setting('server_version_num')::int as "versionNumber",
             pg_is_in_recovery() as "isStandby",
             array(select name from unnest(${[...DURABILITY]}::text[]) name where current_setting(name) = 'off') as unsafe,
             array(select name from unnest('{autovacuum,track_counts}'::text[]) name where current_setting(name) = 'off') as "vacuumOff",
             current_setting('data_checksums') = 'on' as "hasChecksums",
             (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
             current_setting('max_connections')::int as "maxConnections",
             current_setting('superuser_reserved_connections')::int
               + coalesce(current_setting('reserved_connections', true)::int, 0) as "reservedConnections",
             current_setting('archive_mode') as "archiveMode",
             last_archived_time as "archivedAt", last_failed_time as "archiveFailedAt",
             (select max(age(datfrozenxid))::float8 from pg_database) as "transactionAge",
             (select max(mxid_age(datminmxid))::float8 from pg_database) as "multixactAge",
             pg_database_size(current_database())::float8 as size
        from pg_stat_archiver`,
  )
  const took = performance.now() - began
  return { ...state, hostAhead: aheadOf(now, before, took) }
}

/** The database's time was read at some moment of the query, so a difference up to the duration of the query is none. */
function aheadOf(database: number, asked: number, took: number): number {
  if (asked > database) return asked - database
  const answered = asked + took
  return answered < database ? answered - database : 0
}

import { onlyRow, type Sql } from './database.ts'

/** The connections of one program of the service from one host. */
export interface ProgramSessions {
  /** api, relay, delivery, returns, lease or command. */
  readonly program: string
  /** The host's address as the server sees it; null for a socket on the server's own host. */
  readonly address: string | null
  /** Whether they come from the same address as this connection. */
  readonly isHere: boolean
  readonly sessions: number
}

export interface LongTransaction {
  readonly pid: number
  readonly program: string
  readonly state: string
  readonly seconds: number
}

/** The server's sessions. */
export interface DatabaseActivity {
  readonly programs: readonly ProgramSessions[]
  /** The oldest open transactions of this database, at most five. */
  readonly transactions: readonly LongTransaction[]
  /** Prepared transactions of this database, which stay until they are committed or rolled back; the oldest five. */
  readonly prepared: readonly { readonly name: string; readonly seconds: number }[]
  /** Sessions of this database that have waited for a lock for ten seconds or more. */
  readonly blocked: number
}

/** Maximum number of programs and hosts that are listed. */
const MAX_PROGRAMS = 500

/** Reads the server's list of sessions. Sessions of other roles hide their program from a role without pg_read_all_stats. */
export async function readActivity(sql: Sql): Promise<DatabaseActivity> {
  const programs = sql<ProgramSessions[]>`
    select split_part(application_name, ' ', 2) as program, host(client_addr) as address,
           bool_or(client_addr is not distinct from inet_client_addr()) as "isHere", count(*)::int as sessions
      from pg_stat_activity
     where datname = current_database() and application_name like 'postrider %' and pid <> pg_backend_pid()
     group by 1, 2 order by 1, 2 limit ${MAX_PROGRAMS}`
  const transactions = sql<LongTransaction[]>`
    select pid, application_name as program, coalesce(state, '') as state,
           extract(epoch from clock_timestamp() - xact_start)::float8 as seconds
      from pg_stat_activity
     where datname = current_database() and xact_start is not null and pid <> pg_backend_pid() and backend_type = 'client backend'
     order by xact_start limit 5`
  const prepared = sql<{ name: string; seconds: number }[]>`
    select gid as name, extract(epoch from clock_timestamp() - prepared)::float8 as seconds
      from pg_prepared_xacts where database = current_database() order by prepared limit 5`
  const blocked = sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and clock_timestamp() - query_start > interval '10 seconds'`
  return {
    programs: await programs,
    transactions: await transactions,
    prepared: await prepared,
    blocked: onlyRow(await blocked).count,
  }
}

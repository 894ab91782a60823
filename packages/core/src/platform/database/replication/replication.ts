import { type AnySql, onlyRow, type Sql } from '../database.ts'

export interface Standby {
  /** The standby's application_name. */
  readonly name: string
  /** streaming, catchup and others; empty if the role may not see it, and then the following, too. */
  readonly state: string
  /** async, potential, sync or quorum. */
  readonly sync: string
  /** Bytes of WAL that it has not replayed; null if not known. */
  readonly behind: number | null
  /** Seconds that a commit takes to be visible there; null if not known. */
  readonly lag: number | null
}

export interface ReplicationSlot {
  readonly name: string
  readonly isActive: boolean
  /** reserved, extended, unreserved or lost. */
  readonly walStatus: string | null
  /** Bytes of WAL that the server keeps for it. */
  readonly retained: number | null
}

export interface Replication {
  /** synchronous_standby_names: for these, commits wait. Empty if for none. */
  readonly synchronous: string
  /** For how many of them a commit waits. */
  readonly needed: number
  /** At most 20. */
  readonly standbys: readonly Standby[]
  /** At most 20, those for which most WAL is kept first. */
  readonly slots: readonly ReplicationSlot[]
}

/** The settings and standbys by which a commit of this connection waits. */
export interface SyncStandby {
  /** synchronous_commit. */
  readonly level: string
  /** synchronous_standby_names. */
  readonly names: string
  /** For how many standbys a commit waits; 0 if for none. */
  readonly needed: number
  /** How many synchronous standbys are connected and stream. */
  readonly connected: number
  /** Whether as many are connected as a commit waits for, and at least one. */
  readonly isConnected: boolean
  /** Whether the role may not see if a standby is synchronous. */
  readonly isHidden: boolean
}

/** The number in `ANY 2 (…)`, `FIRST 2 (…)` and `2 (…)`; of a list without a number 1, and of an empty one 0. */
const neededOf = (sql: AnySql): ReturnType<AnySql> => sql`
  case when current_setting('synchronous_standby_names') ~ '^[[:space:]]*$' then 0
       else coalesce(substring(current_setting('synchronous_standby_names') from
              '(?i)^[[:space:]]*(?:(?:any|first)[[:space:]]+)?([0-9]+)[[:space:]]*[(]')::int, 1) end`

export async function readSyncStandby(sql: Sql): Promise<SyncStandby> {
  const found = onlyRow(
    await sql<Omit<SyncStandby, 'isConnected'>[]>`
      select current_setting('synchronous_commit') as level, current_setting('synchronous_standby_names') as names,
             ${neededOf(sql)} as needed,
             (count(*) filter (where sync_state in ('sync', 'quorum') and state = 'streaming'))::int as connected,
             coalesce(bool_or(sync_state is null), false) as "isHidden"
        from pg_stat_replication`,
  )
  return { ...found, isConnected: found.connected >= Math.max(found.needed, 1) }
}

/** The beginning of a sentence: how many synchronous standbys are connected, which is less than a commit waits for. */
export function missingStandbys({ connected, needed }: Pick<SyncStandby, 'connected' | 'needed'>): string {
  if (connected === 0) return 'no synchronous standby is connected'
  return `only ${connected} of the ${needed} synchronous standbys that commits wait for ${connected === 1 ? 'is' : 'are'} connected`
}

/** Whether each commit waits until a standby, or another one, is connected: no timeout of the server ends this wait. */
export function commitsWait({ level, names, isConnected, isHidden }: SyncStandby): boolean {
  return names !== '' && level !== 'off' && level !== 'local' && !isConnected && !isHidden
}

/** Reads the standbys of a primary. A role without pg_read_all_stats sees their names only. */
export async function readReplication(sql: Sql): Promise<Replication> {
  const [setting] = await sql<{ synchronous: string; needed: number }[]>`
    select current_setting('synchronous_standby_names') as synchronous, ${neededOf(sql)} as needed`
  const standbys = await sql<Standby[]>`
    select coalesce(application_name, '') as name, coalesce(state, '') as state, coalesce(sync_state, '') as sync,
           pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::float8 as behind, extract(epoch from replay_lag)::float8 as lag
      from pg_stat_replication where not pg_is_in_recovery() order by sync_priority, application_name limit 20`
  const slots = await sql<ReplicationSlot[]>`
    select slot_name as name, active as "isActive", wal_status as "walStatus",
           pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::float8 as retained
      from pg_replication_slots where not pg_is_in_recovery()
     order by pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) desc nulls last limit 20`
  return { synchronous: setting?.synchronous ?? '', needed: setting?.needed ?? 0, standbys, slots }
}

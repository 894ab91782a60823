import type { Sql } from './database.ts'
import { WEEKS_AHEAD } from './partitions.ts'

/** A partition of this or a coming week that does not exist. */
export interface MissingPartition {
  readonly name: string
  /** 0: the current week. */
  readonly week: number
}

export interface DeadRows {
  readonly table: string
  readonly dead: number
  readonly live: number
  readonly vacuumedAt: Date | null
}

export interface TableState {
  /** Of the weeks that every process creates partitions for, the earliest first; at most 50. */
  readonly missing: readonly MissingPartition[]
  /** The five tables with most dead rows, as the server's statistics count them. */
  readonly dead: readonly DeadRows[]
  /** Tables for which autovacuum is switched off, at most five. */
  readonly vacuumOff: readonly string[]
}

/** Reads the catalogs and the server's statistics; no table of the service. */
export async function readTableState(sql: Sql): Promise<TableState> {
  const missing = await sql<MissingPartition[]>`
    with weeks as (
      select p.relnamespace::regnamespace as schema, n as week, p.relname || to_char(
               date_trunc('week', service_now(), 'UTC') at time zone 'UTC' + n * interval '7 days', '"_"IYYY"w"IW') as name
        from pg_class p cross join generate_series(0, ${WEEKS_AHEAD - 1}::int) n
       where p.relkind = 'p' and pg_table_is_visible(p.oid)
    )
    select name, week from weeks where to_regclass(format('%s.%I', schema, name)) is null order by week, name limit 50`
  const dead = await sql<DeadRows[]>`
    select relname as table, n_dead_tup::float8 as dead, n_live_tup::float8 as live,
           greatest(last_vacuum, last_autovacuum) as "vacuumedAt"
      from pg_stat_user_tables where n_dead_tup > 0 order by n_dead_tup desc limit 5`
  const off = await sql<{ name: string }[]>`
    select relname as name from pg_class
     where relkind in ('r', 'p') and pg_table_is_visible(oid) and reloptions::text[] && array['autovacuum_enabled=false', 'autovacuum_enabled=off']
     order by relname limit 5`
  return { missing, dead, vacuumOff: off.map(({ name }) => name) }
}

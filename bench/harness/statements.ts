import type { Sql } from '@postrider/core'

/** Settings of the embedded Postgres; the extension is still to be created. */
export const PG_STAT_STATEMENTS = [
  'shared_preload_libraries=pg_stat_statements',
  'pg_stat_statements.track_planning=on',
] as const

/** The statements that took the most time since the last reset, per message; without the commit, which is not counted with the statement. */
export async function slowestStatements(sql: Sql, messages: number): Promise<string[]> {
  const rows = await sql<{ query: string; calls: number; planning: number; running: number }[]>`
    select left(regexp_replace(query, '\\s+', ' ', 'g'), 60) as query, calls::int, total_plan_time * 1000 as planning,
           total_exec_time * 1000 as running
      from pg_stat_statements order by total_plan_time + total_exec_time desc limit 12`
  const shown = (microseconds: number): string => (microseconds / messages).toFixed(1).padStart(6)
  return rows.map(
    ({ query, calls, planning, running }) =>
      `  ${shown(running)} running, ${shown(planning)} planning, ${String(calls).padStart(5)} calls  ${query}`,
  )
}

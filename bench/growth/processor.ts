import { readFileSync } from 'node:fs'
import type { Sql } from '@postrider/core'

/** Milliseconds of processor time that the process used so far, and the database's sessions of all processes of the service. */
export type Processor = () => Promise<number>

/** Where other programs share the machine, time by the clock tells of them too; this tells of the call alone. Linux only. */
export function watchProcessor(sql: Sql, pids: readonly number[]): Processor {
  return async () => {
    const sessions = await sql<{ pid: number }[]>`
      select pid from pg_stat_activity
       where split_part(application_name, ' ', 2) in ('api', 'growth') or backend_type = 'parallel worker'`
    return [...pids, ...sessions.map(({ pid }) => pid)].reduce((sum, pid) => sum + onProcessor(pid), 0)
  }
}

function onProcessor(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return 0
  }
}

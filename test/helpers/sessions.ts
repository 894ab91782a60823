import type { Sql } from '@postrider/core'
import type { ServiceProcess } from './processes.ts'
import { until } from './until.ts'

/**
 * Kills a process, and waits until the database has no session of its kind: the statement that was on its way at the end is still carried
 * out, and may be a batch that is committed.
 */
export async function killWithSessions(sql: Sql, process: ServiceProcess): Promise<void> {
  process.kill('SIGKILL')
  await process.exited
  await until('its sessions to be gone', async () => {
    const open = await sql`
      select from pg_stat_activity
       where datname = current_database() and application_name like ${`postrider ${process.name} %`}`
    return open.length === 0
  })
}

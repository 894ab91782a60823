import { appendFileSync, chmodSync, cpSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import { openDatabase } from '@postrider/core'
import type { Test } from 'tap'
import { makeTemplateDatabase } from './database.ts'
import { until } from './until.ts'

export interface ReplicatedPostgres {
  /** URL of the primary. */
  readonly url: string
  /** URL of its streaming standby. */
  readonly standbyUrl: string
  startStandby(): Promise<void>
  stopStandby(): Promise<void>
}

/** Two servers of the test's own, with the migrated template: a primary, and a standby that streams from it. */
export async function startReplicated(t: Test): Promise<ReplicatedPostgres> {
  const folder = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'replicated-'))
  const [first, second] = [join(folder, 'first'), join(folder, 'second')] as const
  const unfinished = await startEmbeddedPostgres({ dataDir: first })
  await makeTemplateDatabase(unfinished.url)
  await unfinished.stop()
  cpSync(first, second, { recursive: true })
  chmodSync(join(second, 'postgres'), 0o700)
  const primary = await startEmbeddedPostgres({ dataDir: first })
  t.teardown(() => primary.stop())
  const { port, username, password } = new URL(primary.url)
  writeFileSync(join(second, 'postgres', 'standby.signal'), '')
  appendFileSync(
    join(second, 'postgres', 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=${username} password=${password}'\n`,
  )
  let standby = await startEmbeddedPostgres({ dataDir: second })
  const standbyUrl = standby.url
  const settings = [`port=${new URL(standbyUrl).port}`]
  let isRunning = true
  const stopStandby = async () => {
    if (isRunning) await standby.stop()
    isRunning = false
  }
  t.teardown(stopStandby)
  const sql = openDatabase({ url: primary.url, name: 'test', connections: 1 })
  await until(
    'the standby',
    async () => (await sql`select from pg_stat_replication where state = 'streaming'`).length > 0,
  )
  await sql.end()
  return {
    url: primary.url,
    standbyUrl,
    async startStandby() {
      standby = await startEmbeddedPostgres({ dataDir: second, settings })
      isRunning = true
    },
    stopStandby,
  }
}

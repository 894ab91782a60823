import { openDatabase, readConfig, type Sql } from '@postrider/core'
import { startEmbeddedPostgres } from '../../packages/cli/src/start-postgres.ts'

/** Starts the embedded database of these settings, which archives if they have BACKUP_DIR, for statements of a test. */
export async function onDatabase<T>(env: Readonly<Record<string, string>>, act: (sql: Sql) => Promise<T>): Promise<T> {
  const { backups, dataDir } = readConfig(env)
  const server = await startEmbeddedPostgres({ dataDir, backups: backups?.address })
  const sql = openDatabase({ url: server.url, name: 'test', connections: 1 })
  try {
    return await act(sql)
  } finally {
    await sql.end()
    await server.stop()
  }
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import { migrate, openDatabase, type Sql } from '@postrider/core'

/** A throw-away Postgres with fsync on, migrated, for one benchmark program. */
export async function withDatabase<T>(connections: number, act: (sql: Sql, url: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-bench-'))
  const server = await startEmbeddedPostgres({ dataDir: folder })
  const sql = openDatabase({ url: server.url, name: 'bench', connections })
  try {
    await migrate(sql)
    return await act(sql, server.url)
  } finally {
    await sql.end({ timeout: 5 })
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import { makeTemplateDatabase } from './database.ts'

/** A throw-away Postgres with the migrated template database, or the one TEST_DATABASE_URL names, as long as `act` takes. */
export async function withPostgres<T>(act: (given: { url: string; folder: string }) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-test-'))
  const given = process.env.TEST_DATABASE_URL
  const server = given ? undefined : await startEmbeddedPostgres({ dataDir: folder, settings: ['max_connections=400'] })
  try {
    const url = given ?? (server?.url as string)
    await makeTemplateDatabase(url)
    return await act({ url, folder })
  } finally {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@postrider/cli/embedded-postgres'
import { openDatabase } from '@postrider/core'
import { clusterOf } from '../../packages/cli/src/embedded-postgres/cluster.ts'
import { postmasterOf } from '../../packages/cli/src/embedded-postgres/postmaster.ts'
import { makeTemplateDatabase } from './database.ts'
import { processorSeconds } from './test-processes.ts'

export interface TestPostgres {
  readonly url: string
  /** For what tests write to files. */
  readonly folder: string
  /** The processor time that the server has taken so far, in seconds; undefined if it is not this run's own. */
  databaseSeconds(): number | undefined
}

/** A throw-away Postgres with the migrated template database, or the one TEST_DATABASE_URL names, as long as `act` takes. */
export async function withPostgres<T>(act: (given: TestPostgres) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(quickFolder(), 'postrider-test-'))
  const given = process.env.TEST_DATABASE_URL
  let server: EmbeddedPostgres | undefined
  try {
    if (!given) server = await startEmbeddedPostgres({ dataDir: folder, settings: ['max_connections=400'] })
    const url = given ?? (server?.url as string)
    if (server) await hashCheaply(url)
    await makeTemplateDatabase(url)
    return await act({
      url,
      folder,
      databaseSeconds: () => (server ? processorSeconds(postmasterOf(clusterOf(folder)) ?? {}) : undefined),
    })
  } finally {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Each connection hashes the password as often as it says with it: 4096 times take 5 ms of a processor, and a run makes thousands. */
async function hashCheaply(url: string): Promise<void> {
  const { username, password } = new URL(url)
  const sql = openDatabase({ url, name: 'test', connections: 1 })
  await sql.unsafe('set scram_iterations = 1')
  await sql.unsafe(`alter role ${username} password '${password}'`)
  await sql.end()
}

const MEMORY_FOLDER = '/dev/shm'
/** More than the files of a run take at their most: 1.3 GB, 0.2 of them WAL. */
const ENOUGH = 2 * 2 ** 30

/**
 * In memory, where that has room and TMPDIR names no other place: a database copied there takes 20 ms of a processor and 60 of the clock,
 * on a disk 600 and 2,500 beside other tests, since each of its 750 files is forced to the disk. Nothing is lost that a test counts on:
 * they end processes, and not machines.
 */
export function quickFolder(): string {
  if (process.env.TMPDIR) return tmpdir()
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER)
    return bavail * bsize >= ENOUGH && freemem() >= 2 * ENOUGH ? MEMORY_FOLDER : tmpdir()
  } catch {
    return tmpdir()
  }
}

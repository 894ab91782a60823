import { spawnSync } from 'node:child_process'
import type { Sql } from '@postrider/core'

/** Gives the pages of all files below a folder back to the system (posix_fadvise(2)), as after a restart of the machine. */
const FORGET = `
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        try:
            file = os.open(os.path.join(folder, name), os.O_RDONLY)
        except OSError:
            continue
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
`

/** Returns a function that takes what Postgres and the system have in memory of a database out of it. Needs python3. */
export async function coolingOf(sql: Sql, folder: string): Promise<() => Promise<void>> {
  await sql`create extension if not exists pg_buffercache`
  return async () => {
    await sql`checkpoint`
    await sql`select pg_buffercache_evict_all()`
    const { status, error, stderr } = spawnSync('python3', ['-c', FORGET, folder])
    if (status !== 0) throw error ?? new Error(String(stderr))
  }
}

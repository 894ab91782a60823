import { databaseErrorCode, type Sql } from './database.ts'

/** Milliseconds between two probes while the disk has free space. */
const PROBE_INTERVAL = 10_000

export interface DiskProbe {
  /** Whether the disk had free space at the last probe. Starts another probe if the last one is too old. */
  hasRoom(): boolean
  /** Reports a write that failed because the disk is full; hasRoom is false until a probe succeeds. */
  suspect(): void
}

/**
 * Probes whether the database can write by having it write: nothing else shows it, and querying the free space requires
 * additional privileges. While the disk is full, every call starts a probe, so that free space is detected within a
 * second.
 */
export function diskProbe(sql: Sql, monotonic: () => number): DiskProbe {
  let hasSpace = true
  let due = Number.NEGATIVE_INFINITY
  let probing = false

  async function probe(): Promise<void> {
    probing = true
    due = monotonic() + PROBE_INTERVAL
    try {
      await spill(sql)
      hasSpace = true
    } catch (error) {
      // Other errors (no permission to write such files, or a file size limit) say nothing about the disk.
      const code = databaseErrorCode(error)
      if (code === '53100' || code === '53400') hasSpace = code !== '53100'
    } finally {
      probing = false
    }
  }

  return {
    hasRoom() {
      if (!probing && (!hasSpace || monotonic() >= due)) void probe()
      return hasSpace
    },
    suspect() {
      hasSpace = false
    },
  }
}

/**
 * Keeps two megabytes with 64 kB of memory: the rest is written to a temporary file on the disk of the tables, which is
 * then deleted. Not a sort: since Postgres 17 a sort of one column does not count what its values take, and keeps them in memory.
 */
async function spill(sql: Sql): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`select set_config('work_mem', '64kB', true)`
    await transaction`
      with spilled as materialized (select repeat('x', 16000) as octets from generate_series(1, 130)) select count(*) from spilled`
  })
}

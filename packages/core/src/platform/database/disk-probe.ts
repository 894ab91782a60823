import { databaseErrorCode, type Sql } from './database.ts'

/** Milliseconds between two probes of a disk that had room. */
const EVERY = 10_000

export interface DiskProbe {
  /** Had the database's disk room for some more when it was last tried? Has it tried again where that is long ago. */
  hasRoom(): boolean
  /** Somebody was told that there is none: so it is, until a probe says otherwise. */
  suspect(): void
}

/**
 * Finds out whether the database can write by having it write: nothing else tells, and to ask for the free space takes rights.
 * While there is no room every question brings a probe, so it is known within a second that there is room again.
 */
export function diskProbe(sql: Sql, monotonic: () => number): DiskProbe {
  let room = true
  let due = Number.NEGATIVE_INFINITY
  let probing = false

  async function probe(): Promise<void> {
    probing = true
    due = monotonic() + EVERY
    try {
      await spill(sql)
      room = true
    } catch (error) {
      // Other failures (it may not write such files, or not so large ones) say nothing about the disk.
      const code = databaseErrorCode(error)
      if (code === '53100' || code === '53400') room = code !== '53100'
    } finally {
      probing = false
    }
  }

  return {
    hasRoom() {
      if (!probing && (!room || monotonic() >= due)) void probe()
      return room
    },
    suspect() {
      room = false
    },
  }
}

/** Sorts two megabytes in 64 kB of memory: the rest goes to a temporary file beside the tables, which is gone afterwards. */
async function spill(sql: Sql): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`select set_config('work_mem', '64kB', true)`
    await transaction`
      select count(*) from (select repeat(md5(n::text), 32) as octets from generate_series(1, 2000) n order by octets) spilled`
  })
}

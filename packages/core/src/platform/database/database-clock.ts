import type { Clock } from '../clock.ts'

/** One reading of the database's time, with the monotonic time before the query and after the response. */
export interface TimeTold {
  readonly asked: number
  readonly answered: number
  /** Milliseconds since 1970. */
  readonly database: number
}

export interface DatabaseClock extends Clock {
  /** Sets the clock. Returns by how many milliseconds the host's clock is ahead of the database's. */
  set(told: TimeTold): number
}

/**
 * Milliseconds. For a correction smaller than this the clock stops instead of going back, so that later messages get
 * later ids.
 */
const SMALL = 1000

/**
 * The database's time as of the last reading; before the first reading, the host's. Messages and their ids use it,
 * because the id determines the weekly partition: a host with a wrong clock stores its messages in the same partition
 * as the other hosts.
 */
export function databaseClock(host: Clock): DatabaseClock {
  /** Offset of the database's time from the monotonic clock. */
  let offset: number | undefined
  let latest = 0
  return {
    now() {
      if (offset === undefined) return host.now()
      const now = Math.floor(host.monotonic() + offset)
      latest = now < latest && latest - now < SMALL ? latest : now
      return latest
    },
    monotonic: host.monotonic,
    set({ asked, answered, database }) {
      // The reading was taken at some moment between the two. An offset that agrees with that is kept, so that the time
      // does not oscillate.
      const [min, max] = [database - answered, database - asked]
      if (offset === undefined || offset < min || offset > max) offset = (min + max) / 2
      return host.now() - (host.monotonic() + offset)
    },
  }
}

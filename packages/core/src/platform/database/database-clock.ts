import type { Clock } from '../clock.ts'
import { type MovedClock, serviceTime } from './moved-clock.ts'

/** One reading of the database's time, with the monotonic time before the query and after the response. */
export interface TimeTold {
  readonly asked: number
  readonly answered: number
  /** Milliseconds since 1970. */
  readonly database: number
  /** Undefined if the service's time is the database's. */
  readonly moved?: MovedClock | undefined
}

export interface DatabaseClock extends Clock {
  /** Milliseconds by which the service's time was ahead of the world's at the last reading: 0 unless the clock of a sandbox was moved. */
  ahead(): number
  /** The world's time as the database has it: milliseconds since 1970. For what others compute with clocks of their own. */
  worldNow(): number
  /** Sets the clock. Returns by how many milliseconds the host's clock is ahead of the database's. */
  set(told: TimeTold): number
}

/**
 * Milliseconds. For a correction smaller than this the clock stops instead of going back, so that later messages get
 * later ids.
 */
const SMALL = 1000

/**
 * The service's time as of the last reading, which is the database's unless it was moved; before the first reading, the host's. Messages and their ids use it,
 * because the id determines the weekly partition: a host with a wrong clock stores its messages in the same partition
 * as the other hosts.
 */
export function databaseClock(host: Clock): DatabaseClock {
  /** Offset of the database's time from the monotonic clock. */
  let offset: number | undefined
  let latest = 0
  let ahead = 0
  function now(): number {
    if (offset === undefined) return host.now()
    const read = Math.floor(host.monotonic() + offset)
    latest = read < latest && latest - read < SMALL ? latest : read
    return latest
  }
  return {
    now,
    monotonic: host.monotonic,
    ahead: () => ahead,
    worldNow: () => now() - ahead,
    set({ asked, answered, database, moved }) {
      ahead = moved ? serviceTime(moved, database) - database : 0
      // The reading was taken at some moment between the two. An offset that agrees with that is kept, so that the time
      // does not oscillate.
      const service = database + ahead
      const [min, max] = [service - answered, service - asked]
      if (offset === undefined || offset < min || offset > max) offset = (min + max) / 2
      return host.now() - (host.monotonic() + offset - ahead)
    },
  }
}

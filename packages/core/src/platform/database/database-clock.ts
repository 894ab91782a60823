import type { Clock } from '../clock.ts'

/** What a question for the time was answered: when it was asked and answered by our steady clock, and what the database said. */
export interface TimeTold {
  readonly asked: number
  readonly answered: number
  /** Milliseconds since 1970. */
  readonly database: number
}

export interface DatabaseClock extends Clock {
  /** Sets the clock. Answers by how many milliseconds the host's own is ahead of the database's. */
  set(told: TimeTold): number
}

/** Milliseconds. A correction of less does not set the time back: it stands still, so that what comes later has the later id. */
const SMALL = 1000

/**
 * The database's time, as far as it has been told; until then the host's. Messages are dated by it, ids too, since an id names
 * the week's partition: a host whose clock is wrong stores them where everybody else does.
 */
export function databaseClock(host: Clock): DatabaseClock {
  /** Of the database's time to our steady clock. */
  let ahead: number | undefined
  let latest = 0
  return {
    now() {
      if (ahead === undefined) return host.now()
      const now = Math.floor(host.monotonic() + ahead)
      latest = now < latest && latest - now < SMALL ? latest : now
      return latest
    },
    monotonic: host.monotonic,
    set({ asked, answered, database }) {
      // It was told at some moment between the two. What agrees with that stays, so that times don't jump to and fro.
      const [least, most] = [database - answered, database - asked]
      if (ahead === undefined || ahead < least || ahead > most) ahead = (least + most) / 2
      return host.now() - (host.monotonic() + ahead)
    },
  }
}

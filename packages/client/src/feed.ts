import { ConnectionError, RateLimitError, ServiceError } from './errors.ts'
import { Events, type ReadEventFeedData } from './generated/events.ts'
import { pause } from './pause.ts'

export type FeedEvent = ReadEventFeedData['data'][number]

/** Where a reader of the feed is; both numbers are to be stored, together with what was made of the events. */
export interface FeedPosition {
  /** The number of the last event that was dealt with; 0: before the first. */
  readonly after: number
  readonly epoch?: number
}

export interface FeedOptions extends Partial<FeedPosition> {
  readonly types?: string | readonly string[]
  readonly signal?: AbortSignal
}

/** Seconds that the service waits for an event, and that the response may take beyond them. */
const WAIT = 30
const GRACE = 15
const LIMIT = 1000

interface Reading {
  readonly at: number
  readonly known: number | undefined
  readonly types: FeedOptions['types'] | undefined
  readonly signal: AbortSignal | undefined
}

/** Events, with the feed as it goes on. */
export class EventsWithFeed extends Events {
  /**
   * The account's events in the order of their numbers, and those to come. It goes on after failures of the network and of the service. It ends when the
   * signal is aborted. With `after` and `epoch` of a former event it goes on behind it. An `epoch` that differs from the former one means that the database
   * was restored: events from the number of this one on replace those that you have. Needs the scope events.
   */
  async *feed({ after = 0, epoch, types, signal }: FeedOptions = {}): AsyncGenerator<FeedEvent & FeedPosition> {
    let [at, known] = [after, epoch]
    for (let failures = 0; !signal?.aborted; ) {
      const page = await this.#page({ at, known, types, signal })
      if (!page) {
        await pause(Math.min(30_000, 500 * 2 ** failures++), signal)
        continue
      }
      failures = 0
      known = page.epoch
      for (const event of page.data) {
        if (signal?.aborted) return
        yield { ...event, after: event.number, epoch: page.epoch }
      }
      at = page.next
    }
  }

  /** Undefined if there is none at the moment. */
  async #page({ at, known, types, signal }: Reading): Promise<ReadEventFeedData | undefined> {
    try {
      return await this.readFeed(
        { after: at, epoch: known, types, wait: WAIT, limit: LIMIT },
        { timeout: (WAIT + GRACE) * 1000, ...(signal ? { signal } : {}) },
      )
    } catch (error) {
      const passes = [ConnectionError, RateLimitError, ServiceError].some((one) => error instanceof one)
      if (passes || signal?.aborted) return undefined
      throw error
    }
  }
}

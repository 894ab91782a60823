import {
  type Core,
  createGroupCommit,
  type Dot,
  type DotLeave,
  isDatabaseTrouble,
  type Log,
  type Result,
} from '@postrider/core'

/** Writes outcomes and dot notes, many at a time. */
export interface Recorder {
  /** Resolves once recorded. False: stale, another worker has the delivery. Waits for the database as long as it takes. */
  record(result: Result): Promise<boolean>
  /** Resolves true when the final dot may be written: the lease stands, and the note of the dot is in the database. */
  markDot(dot: Dot): Promise<DotLeave>
  /** Results not yet recorded. */
  readonly pending: number
}

const BATCH = 250
/** Milliseconds. Results wait for nobody; a conversation waits for its dot, which is little beside a network's way there and back. */
const SPACING = { results: 10, dots: 5 } as const
/** A remote server waits three minutes for the message to begin (RFC 5321 4.5.3.2.5); after this we give up our turn. */
const DOT_PATIENCE_MS = 60_000

export function createRecorder({ core, log }: { core: Core; log: Log }): Recorder {
  const results = createGroupCommit<Result, boolean>({
    write: (batch) => untilWritten(() => core.deliveries.record(batch), Number.POSITIVE_INFINITY, log),
    weigh: () => 1,
    maxItems: BATCH,
    maxWeight: BATCH,
    sharedFault: isDatabaseTrouble,
    spacing: SPACING.results,
    lanes: 2,
  })
  const dots = createGroupCommit<Dot, DotLeave>({
    write: (batch) => untilWritten(() => core.deliveries.markDots(batch), DOT_PATIENCE_MS, log),
    weigh: () => 1,
    maxItems: BATCH,
    maxWeight: BATCH,
    sharedFault: isDatabaseTrouble,
    spacing: SPACING.dots,
    lanes: 2,
  })
  return {
    record: (result) => results.add(result),
    markDot: (dot) => dots.add(dot),
    get pending() {
      return results.size
    },
  }
}

/** Both statements may be run again: what was written before no longer matches. */
async function untilWritten<T>(write: () => Promise<T>, patience: number, log: Log): Promise<T> {
  const deadline = performance.now() + patience
  for (let attempt = 1; ; attempt++) {
    try {
      return await write()
    } catch (error) {
      if (!isDatabaseTrouble(error) || performance.now() > deadline) throw error
      if (attempt === 1) log.warn({ err: error }, 'the database can not write now; results wait')
      await new Promise((resolve) => setTimeout(resolve, Math.min(50 * 2 ** attempt, 1000)))
    }
  }
}

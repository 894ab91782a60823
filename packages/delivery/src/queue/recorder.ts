import {
  type Core,
  createGroupCommit,
  type EndOfData,
  isDatabaseTrouble,
  type Log,
  observe,
  pause,
  type Result,
  type SendPermission,
} from '@postrider/core'
import type { AnswerNotes } from './answer-notes.ts'

/** Records outcomes and end-of-data marks in batches. Prompt ones wait less for others. */
export interface Recorder {
  /** Resolves once recorded. False: stale, another worker has the delivery. Waits for the database without a limit. */
  record(result: Result, promptness: Promptness): Promise<boolean>
  /** The same, for a finished delivery whose outcome cannot be stored with its attempt and event. */
  finishOnly(result: Result): Promise<boolean>
  /** Resolves with true if end of data may be sent: the lease is valid, and the mark is in the database. */
  recordEndOfData(end: EndOfData, promptness: Promptness): Promise<SendPermission>
  /** Results not yet recorded. */
  readonly pending: number
}

interface Promptness {
  readonly isPrompt: boolean
}

const BATCH = 250
/** Milliseconds. Nothing waits for results; a conversation waits for its mark, which is short compared to a network round trip. */
const SPACING = { results: 10, ends: 10 } as const
/** With it, mail of a quiet account behind another's backlog took 13 to 15 ms at the median instead of 24 to 25 (docs/performance.md). */
const PROMPT_SPACING = 4
/** A server waits three minutes for data (RFC 5321 4.5.3.2.5); after this time the conversation is given up. */
const END_OF_DATA_TIMEOUT_MS = 60_000

export function createRecorder({ core, log, notes }: { core: Core; log: Log; notes?: AnswerNotes }): Recorder {
  const results = createGroupCommit<Result, boolean>({
    async write(batch) {
      const began = performance.now()
      const taken = await untilWritten(() => core.deliveries.record(batch), Number.POSITIVE_INFINITY, log)
      observe('record_seconds', (performance.now() - began) / 1000, {})
      return taken
    },
    weigh: () => 1,
    maxItems: BATCH,
    maxWeight: BATCH,
    sharedFault: isDatabaseTrouble,
    spacing: SPACING.results,
    promptSpacing: PROMPT_SPACING,
    lanes: 2,
  })
  const ends = createGroupCommit<EndOfData, SendPermission>({
    write: (batch) => untilWritten(() => core.deliveries.recordEndOfData(batch), END_OF_DATA_TIMEOUT_MS, log),
    weigh: () => 1,
    maxItems: BATCH,
    maxWeight: BATCH,
    sharedFault: isDatabaseTrouble,
    spacing: SPACING.ends,
    promptSpacing: PROMPT_SPACING,
    lanes: 2,
  })
  return {
    async record(result, promptness) {
      if (!notes || !isAnswered(result)) return results.add(result, promptness)
      notes.add(result)
      // Also if the database does not take it: it is then recorded in another form, with a note of its own.
      return results.add(result, promptness).finally(() => notes.settle(result))
    },
    finishOnly: (result) => untilWritten(() => core.deliveries.finishOnly(result), Number.POSITIVE_INFINITY, log),
    recordEndOfData: (end, promptness) => ends.add(end, promptness),
    get pending() {
      return results.size
    },
  }
}

/** Whether end of data was answered. Before it, nothing can have been delivered. */
function isAnswered({ outcome }: Result): boolean {
  return (
    outcome.kind !== 'dropped' && outcome.stage === 'dot' && !(outcome.kind === 'deferred' && outcome.indeterminate)
  )
}

/** Both statements can be repeated: rows already written no longer match. */
async function untilWritten<T>(write: () => Promise<T>, patience: number, log: Log): Promise<T> {
  const deadline = performance.now() + patience
  for (let attempt = 1; ; attempt++) {
    try {
      return await write()
    } catch (error) {
      if (!isDatabaseTrouble(error) || performance.now() > deadline) throw error
      if (attempt === 1) log.warn({ err: error }, 'database unavailable, buffering results')
      await pause(Math.min(50 * 2 ** attempt, 1000))
    }
  }
}

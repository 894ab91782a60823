import type { Announcer } from '../delivery/queue/queue-channel.ts'
import { type CommitTurn, createGroupCommit, type GroupCommit } from '../platform/database/commits/group-commit.ts'
import type { LockWatch } from '../platform/database/commits/lock-watch.ts'
import { isDatabaseTrouble, type Sql } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Forgotten } from '../suppressions/forgotten.ts'
import type { Written } from './insert-messages.ts'
import { isCopied, writeMessages } from './store.ts'
import type { StoredMessage } from './stored-message.ts'

/**
 * A hundred messages, or a megabyte, are enough to make the cost of a commit negligible. A larger batch would only delay its
 * first message, while the database could already write the batch and this process prepare the next one. Half a megabyte was five
 * messages of 100 kB, for which Postgres took a fifth more (docs/performance.md, Experiments).
 */
const BATCH_ITEMS = 128
const BATCH_BYTES = 1024 * 1024
/**
 * Milliseconds after which a message is rejected whose commit has not begun, because its client may soon time out (P1, P7). The time is shorter if the
 * process is not ready: while the database is unavailable, a commit is unlikely. The answer to one whose commit has begun is its outcome (store.ts).
 */
const COMMIT_TIMEOUT = { ready: 20_000, notReady: 3000 } as const

/** Bytes of the messages of one call that are written by one statement, as its parameters; 500 messages of 15 kB have less. */
const CALL_BYTES = 8 * 1024 * 1024

export interface Commits extends GroupCommit<StoredMessage, Written> {
  /** Writes the messages of one call in a commit of their own, or in several if they are large. One result for each, in order. */
  addAll(messages: readonly StoredMessage[]): readonly Promise<Written>[]
}

export interface CommitsOptions {
  readonly sql: Sql
  readonly forgotten: Forgotten
  readonly ready: () => boolean
  readonly announceBehind: Announcer['announceBehind']
  readonly watchCommit: LockWatch['watch']
}

/**
 * The commits of accepted messages. Those whose bodies are copied have commits of their own, since one of 30 MB takes as long as hundreds of others,
 * which would wait for all that are before them.
 */
export function createCommits({ sql, forgotten, ready, announceBehind, watchCommit }: CommitsOptions): Commits {
  const write = (batch: readonly StoredMessage[], turn: CommitTurn) =>
    watchCommit(writeMessages({ sql, batch, forgotten, announceBehind, turn }))
  const common = {
    sharedFault: (error: unknown) => isDatabaseTrouble(error) || isUnknown(error),
    patience: () => (ready() ? COMMIT_TIMEOUT.ready : COMMIT_TIMEOUT.notReady),
    late: () => new ServiceError(ready() ? 'overloaded' : 'notReady', { reason: 'timed out waiting for commit' }),
    lanes: 2,
  }
  const ofMany = { ...common, write, weigh, maxItems: BATCH_ITEMS, maxWeight: BATCH_BYTES }
  const make = () => createGroupCommit<StoredMessage, Written>(ofMany)
  const [usual, copied] = [make(), make()]
  // Besides the others, which do not wait for the hundreds of messages of such a call.
  const ofCalls = createGroupCommit<readonly StoredMessage[], readonly Written[]>({
    ...common,
    write: async ([call = []], turn) => [await write(call, turn)],
    weigh: () => 1,
    maxItems: 1,
    maxWeight: 1,
  })
  let inCalls = 0
  const add = (message: StoredMessage) => (isCopied(message) ? copied : usual).add(message)

  /** The outcome of each. */
  async function addGroup(group: readonly StoredMessage[]): Promise<readonly PromiseSettledResult<Written>[]> {
    inCalls += group.length
    try {
      const written = await ofCalls.add(group)
      return written.map((value) => ({ status: 'fulfilled', value }))
    } catch (error) {
      if (group.length === 1 || error instanceof ServiceError || isDatabaseTrouble(error)) throw error
      // The database refuses one of them, which must not fail the others.
      return await Promise.allSettled(group.map(add))
    } finally {
      inCalls -= group.length
    }
  }

  return {
    add,
    addAll(messages) {
      const groups = groupsOf(messages.filter((message) => !isCopied(message)))
      const results = new Map<StoredMessage, Promise<Written>>()
      for (const group of groups) {
        const written = addGroup(group)
        for (const [at, message] of group.entries())
          results.set(
            message,
            written.then((all) => {
              const one = all[at] as PromiseSettledResult<Written>
              if (one.status === 'rejected') throw one.reason
              return one.value
            }),
          )
      }
      return messages.map((message) => results.get(message) ?? copied.add(message))
    },
    get size() {
      return usual.size + copied.size + inCalls
    },
  }
}

/** A recipient costs about as much as half a kilobyte of body. */
function weigh({ parts, deliveries }: StoredMessage): number {
  return parts.reduce((sum, { length }) => sum + length, deliveries.length * 512)
}

/** In their order, each of one call's statement. */
function groupsOf(messages: readonly StoredMessage[]): StoredMessage[][] {
  const groups: StoredMessage[][] = []
  let weight = Number.POSITIVE_INFINITY
  for (const message of messages) {
    weight += weigh(message)
    if (weight > CALL_BYTES) {
      groups.push([])
      weight = weigh(message)
    }
    groups.at(-1)?.push(message)
  }
  return groups
}

function isUnknown(error: unknown): boolean {
  return error instanceof ServiceError && error.errorName === 'outcomeUnknown'
}

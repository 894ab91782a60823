import type { Announcer } from '../delivery/queue/queue-channel.ts'
import { createGroupCommit, type GroupCommit } from '../platform/database/commits/group-commit.ts'
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
export function createCommits({
  sql,
  forgotten,
  ready,
  announceBehind,
  watchCommit,
}: CommitsOptions): GroupCommit<StoredMessage, Written> {
  const make = () =>
    createGroupCommit<StoredMessage, Written>({
      write: (batch, turn) => watchCommit(writeMessages({ sql, batch, forgotten, announceBehind, turn })),
      // A recipient costs about as much as half a kilobyte of body.
      weigh: ({ parts, deliveries }) => parts.reduce((sum, { length }) => sum + length, deliveries.length * 512),
      maxItems: BATCH_ITEMS,
      maxWeight: BATCH_BYTES,
      sharedFault: (error) => isDatabaseTrouble(error) || isUnknown(error),
      patience: () => (ready() ? COMMIT_TIMEOUT.ready : COMMIT_TIMEOUT.notReady),
      late: () => new ServiceError(ready() ? 'overloaded' : 'notReady', { reason: 'timed out waiting for commit' }),
      lanes: 2,
    })
  const [usual, copied] = [make(), make()]
  return {
    add: (message) => (isCopied(message) ? copied : usual).add(message),
    get size() {
      return usual.size + copied.size
    },
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof ServiceError && error.errorName === 'outcomeUnknown'
}

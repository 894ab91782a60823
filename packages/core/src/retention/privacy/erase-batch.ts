import { lockBodies } from '../../delivery/queue/deletion-locks.ts'
import { rebuildBlocks } from '../../messages/search/rebuild-blocks.ts'
import type { AnySql } from '../../platform/database/database.ts'
import { deleteBodies } from '../delete-bodies.ts'
import {
  cancelQueued,
  deleteKeys,
  discardHits,
  discardReturns,
  eraseAttempts,
  eraseDeliveries,
  eraseEvents,
  eraseMessages,
  withoutQueued,
} from './erase-traces.ts'
import type { FoundMessage } from './find.ts'
import type { Receipt, Subject } from './request.ts'

const DAY_MS = 86_400_000

export interface ErasureResult {
  readonly touched: Partial<Receipt>
  /** Messages without queued deliveries, from which the recipient is now completely erased; none if `more`. */
  readonly done: readonly string[]
  /** Whether these messages have more events than one transaction may change, and must be erased from again. */
  readonly more: boolean
}

export interface ErasureBatch {
  readonly accountId: number
  readonly subject: Subject
  /** Ordered by id, so that two erasures never deadlock. */
  readonly messages: readonly FoundMessage[]
}

/**
 * Erases a recipient from some messages. Queued deliveries to the recipient are cancelled unless a worker has claimed them. From
 * messages shared with others the recipient's data are removed, and the body once no delivery is queued. Can be repeated, and must be if
 * there are more events.
 */
export async function eraseBatch(sql: AnySql, { accountId, subject, messages }: ErasureBatch): Promise<ErasureResult> {
  const { key, pseudonym } = subject
  const ids = messages.map(({ id }) => id)
  const recipient = { accountId, key, pseudonym, ids }
  // Events and messages are dated by the clocks of different hosts.
  const since = new Date(Math.min(...messages.map(({ acceptedAt }) => acceptedAt.getTime())) - DAY_MS)

  // Until commit no finished delivery of the account is requeued.
  await lockBodies(sql, accountId)
  const cancelled = await cancelQueued(sql, recipient)
  // Determined first, so that the statements below see all rows of these messages.
  const quiet = await withoutQueued(sql, ids)
  const deliveries = await eraseDeliveries(sql, recipient)
  const attempts = await eraseAttempts(sql, recipient)
  const events = await eraseEvents(sql, recipient, since)
  await discardHits(sql, recipient)
  await discardReturns(sql, recipient)
  await deleteKeys(sql, recipient)
  const changed = await eraseMessages(sql, recipient, quiet)
  const bodies = await deleteBodies(sql, accountId, quiet, { evenQueued: true })
  await rebuildBlocks(sql, accountId, ids)
  return {
    touched: {
      cancelled,
      deliveries: deliveries + cancelled,
      attempts,
      events: events.count,
      messages: changed,
      bodies,
    },
    done: events.more ? [] : quiet,
    more: events.more,
  }
}

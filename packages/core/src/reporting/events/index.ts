import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import type { Reads } from '../../platform/database/reads.ts'
import { count, hasMetrics, observe } from '../../platform/metrics/metrics.ts'
import { type FeedPage, type FeedQuery, readFeed } from './feed.ts'
import { createFeedReads } from './feed-reads.ts'
import { type EventPage, type EventQuery, lastNumber, readEvents } from './read.ts'
import { continueAfterRestore } from './restored.ts'
import { type Batch, countTypes, EVENT_CHANNEL, type Sequenced, sequenceEvents, type TypeCount } from './sequencer.ts'
import { createSubscriptions, type Subscriptions } from './subscriptions.ts'
import { watchEvents } from './watch.ts'

export {
  BOUNCE_CLASSIFICATIONS,
  type BounceClassification,
  classificationOf,
} from '../formats/v3/bounce-classifications.ts'
export { type EventLag, readEventLag } from './event-lag.ts'
export type { FeedPage, FeedQuery as FeedQuestion } from './feed.ts'
export type { EventPage, EventQuery as EventQuestion } from './read.ts'
export type { Batch, Sequenced } from './sequencer.ts'
export { dropText, HARD_BOUNCES, isHardBounce, replyLine, replyText } from './texts.ts'

export interface Events extends Subscriptions {
  /** See sequencer.ts. */
  sequence(): Promise<Sequenced>
  /** See restored.ts. */
  continueAfterRestore(): Promise<boolean>
  /** See read.ts. */
  read(question: EventQuery): Promise<EventPage>
  /** With `reads`, it may be some seconds old. */
  lastNumber(accountId: number, reads?: Reads): Promise<number>
  /** Returns the events after a sequence number. Only a limited number of requests wait for them; others return immediately. */
  feed(question: FeedQuery): Promise<FeedPage>
  /** Whether the account's feed was ever read. */
  isFeedRead(accountId: number): Promise<boolean>
  /** Calls back when events of any account get their sequence numbers, and after each reconnect. */
  listen(onEvents: () => void): Promise<{ close(): Promise<void> }>
}

export interface EventsDependencies {
  readonly sql: Sql
  /** Called in this order in the transaction that numbers a batch, so that what they write is exact: the rollups, for example. */
  readonly alongside: readonly ((sql: SqlTransaction, batch: Batch) => Promise<unknown>)[]
}

export function createEvents({ sql, alongside }: EventsDependencies): Events {
  const listen: Events['listen'] = async (onEvents) => {
    const listening = await sql.listen(EVENT_CHANNEL, onEvents, onEvents)
    return { close: listening.unlisten }
  }
  const watch = watchEvents(sql, listen)
  const feedReads = createFeedReads(sql)
  return {
    sequence: () => sequenceAndCount(sql, alongside),
    continueAfterRestore: () => continueAfterRestore(sql),
    read: (question) => readEvents(sql, question),
    lastNumber: (accountId, reads) =>
      reads ? reads.snapshot((snapshot) => lastNumber(snapshot, accountId)) : lastNumber(sql, accountId),
    async feed(question) {
      await feedReads.note(question.accountId)
      return readFeed({ sql, watch }, question)
    },
    isFeedRead: feedReads.isRead,
    listen,
    ...createSubscriptions(sql, listen),
  }
}

/** As sequenceEvents; counts the events for the metrics of this process, if it has any: once they are committed. */
async function sequenceAndCount(sql: Sql, parts: EventsDependencies['alongside']): Promise<Sequenced> {
  const alongside = async (transaction: SqlTransaction, batch: Batch) => {
    for (const part of parts) await part(transaction, batch)
  }
  if (!hasMetrics()) return sequenceEvents(sql, alongside)
  const began = performance.now()
  let types: readonly TypeCount[] = []
  const sequenced = await sequenceEvents(sql, async (transaction, batch) => {
    await alongside(transaction, batch)
    types = await countTypes(transaction, batch)
  })
  for (const { type, number } of types) count('events_total', { type }, number)
  if (sequenced.count > 0) observe('sequence_seconds', (performance.now() - began) / 1000, {})
  return sequenced
}

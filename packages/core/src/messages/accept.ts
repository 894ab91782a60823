import type { Rate, RateLimits, Standing } from '../accounts/rate-limits/index.ts'
import type { ByteBudget } from '../platform/budget.ts'
import type { Clock } from '../platform/clock.ts'
import { isDatabaseFull } from '../platform/database/database.ts'
import { databaseRefusal } from '../platform/database/database-refusal.ts'
import type { GroupCommit } from '../platform/database/group-commit.ts'
import { ServiceError } from '../platform/errors.ts'
import { longWork } from '../platform/threads/turns.ts'
import { messageIdText } from '../submission/message-id.ts'
import { countRecipients, requireShare, type Share } from '../submission/share.ts'
import type { Submission } from '../submission/submission.ts'
import type { TransactionNumbers } from '../submission/transaction-numbers.ts'
import { resolveRepeat } from './idempotency.ts'
import { takeRecipients } from './rules/key-rules.ts'
import { type Judgement, judge } from './rules/rules.ts'
import { settle } from './settle.ts'
import type { Written } from './store.ts'
import type { StoredMessage } from './stored-message.ts'

export interface Acceptance {
  /** 32 hex digits: v2's message_id, the queue id in SMTP's 250. */
  readonly messageId: string
  /** This was the answer to an earlier request under the same idempotency key. */
  readonly repeated: boolean
}

export interface AcceptDependencies {
  readonly lookups: Omit<Judgement, 'domain' | 'template' | 'filled' | 'refusal' | 'attachments' | 'hold'>
  /** Room for templates and stored files of messages that are on their way to the database. */
  readonly storedBudget: ByteBudget
  readonly numbers: TransactionNumbers
  readonly commit: GroupCommit<StoredMessage, Written>
  readonly findRepeat: Parameters<typeof resolveRepeat>[1]
  readonly rateLimits: RateLimits
  readonly ready: () => boolean
  readonly share: Share
  readonly clock: Clock
  readonly heloName: string
  /** Called after each commit that queued something. */
  readonly announce: () => void
  /** Called when the database had no room for a message. */
  readonly onFull: () => void
}

/** Accepts beyond this many waiting commits would only be answered after the client has given up (P7). */
const WAITING_LIMIT = 20_000

/**
 * Judge, settle, store; after it we are responsible (P1). Answers only after one transaction that holds the message, its
 * deliveries and their first events has committed.
 *
 * Throws the refusals of the rules (rules.ts), rateLimited, creditsExhausted, idempotencyConflict, overloaded, notReady; and
 * BeyondShare before anything is done.
 */
export async function accept(submission: Submission, dependencies: AcceptDependencies): Promise<Acceptance> {
  const { lookups, numbers, commit, ready, clock, heloName, announce, findRepeat, storedBudget } = dependencies
  if (!ready()) throw new ServiceError('notReady')
  if (commit.size >= WAITING_LIMIT) throw new ServiceError('overloaded', { reason: 'too many accepts wait for commit' })
  requireShare(countRecipients(submission), dependencies.share.recipients)
  const room = roomIn(storedBudget, dependencies.share)
  try {
    const found = await judge(submission, { ...lookups, hold: room.hold })
    const now = clock.now()
    const transactionBase = await numbers.take(countRecipients(submission), now)
    const work = longWork()
    const message = settle({ submission, found, transactionBase, heloName, now: new Date(now) })
    const pause = work.pause()
    if (pause) await pause
    const { recipients } = submission.principal.rates
    const allowance = recipients ? await takeOrRepeat(message, recipients, dependencies) : undefined
    if (typeof allowance === 'string') return { messageId: messageIdText(allowance), repeated: true }
    for (;;) {
      const written = await commit.add(message)
      if (written.stored) {
        if (written.queued) announce()
        return { messageId: messageIdText(message.id), repeated: false }
      }
      const first = written.refused ? undefined : await resolveRepeat(message, findRepeat)
      if ((written.refused || first) && allowance) {
        dependencies.rateLimits.giveBack(message.deliveries.length, allowance)
      }
      if (written.refused) throw new ServiceError('creditsExhausted')
      if (first) return { messageId: messageIdText(first), repeated: true }
      // The earlier answer has just passed its 24 hours: this request is the first one again.
    }
  } catch (error) {
    if (isDatabaseFull(error)) dependencies.onFull()
    throw databaseRefusal(error) ?? error
  } finally {
    room.giveBack()
  }
}

/** Judges a submission as accept does, and keeps nothing of it. Throws the refusals of the rules, overloaded, notReady. */
export async function rehearse(
  submission: Submission,
  { lookups, storedBudget, ready, share }: Pick<AcceptDependencies, 'lookups' | 'storedBudget' | 'ready' | 'share'>,
): Promise<void> {
  if (!ready()) throw new ServiceError('notReady')
  requireShare(countRecipients(submission), share.recipients)
  const room = roomIn(storedBudget, share)
  try {
    await judge(submission, { ...lookups, hold: room.hold })
  } catch (error) {
    throw databaseRefusal(error) ?? error
  } finally {
    room.giveBack()
  }
}

function roomIn(budget: ByteBudget, { stored }: Share): { hold(octets: number): void; giveBack(): void } {
  let held = 0
  return {
    hold(octets) {
      requireShare(octets, stored)
      // One message may take all of it, so that none is refused for ever.
      const more = Math.min(octets, budget.total - held)
      if (!budget.take(more)) throw new ServiceError('overloaded', { reason: 'no room for more stored content' })
      held += more
    },
    giveBack: () => budget.give(held),
  }
}

/**
 * Takes the recipients out of the key's allowance. A repeated call sends to nobody, so it gets its first answer
 * also when nothing is left: the id of that message. Throws rateLimited, keyRestricted.
 */
async function takeOrRepeat(
  message: StoredMessage,
  rate: Rate,
  { rateLimits, findRepeat }: AcceptDependencies,
): Promise<Standing | string> {
  try {
    return await takeRecipients(rate, message.deliveries.length, rateLimits)
  } catch (error) {
    const first = message.idempotencyKey === undefined ? undefined : await resolveRepeat(message, findRepeat)
    if (first === undefined) throw error
    return first
  }
}

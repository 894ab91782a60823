import { NORMAL, URGENT } from '../accounts/mail-class.ts'
import { MINUTE, type Rate } from '../accounts/rate-limits/index.ts'
import type { BodyObjects } from '../composition/body-objects.ts'
import type { Flow } from '../delivery/queue/flows.ts'
import type { Clock } from '../platform/clock.ts'
import { longWork } from '../platform/concurrency/turns.ts'
import type { GroupCommit } from '../platform/database/commits/group-commit.ts'
import { isDatabaseFull } from '../platform/database/database.ts'
import { databaseRefusal } from '../platform/database/database-refusal.ts'
import { ServiceError } from '../platform/errors.ts'
import { count, observe } from '../platform/metrics/metrics.ts'
import { type Span, type SpanAttributes, startSpan, startTrace } from '../platform/tracing/tracing.ts'
import { messageIdText } from '../submission/message-id.ts'
import { BeyondShare, countRecipients, requireShare } from '../submission/share.ts'
import type { Submission } from '../submission/submission.ts'
import type { TransactionNumbers } from '../submission/transaction-numbers.ts'
import { resolveRepeat } from './idempotency.ts'
import type { Written } from './insert-messages.ts'
import { prepare, type ReceivedField } from './prepare.ts'
import { createQuotas, type QuotaSources, type Quotas } from './quotas.ts'
import { isIdempotencyKey } from './rules/field-rules.ts'
import { type Lookups, validate } from './rules/rules.ts'
import { trialRate } from './rules/trial.ts'
import type { StoredMessage } from './stored-message.ts'

export interface Acceptance {
  /** 32 hex digits: v2's message_id, the queue id in SMTP's 250. */
  readonly messageId: string
  /** Whether an earlier request with the same idempotency key already returned this message. */
  readonly repeated: boolean
}

/** `storedBudget` is the memory for the templates and stored files of messages that are not yet written to the database. */
export interface AcceptDependencies extends QuotaSources {
  readonly lookups: Omit<Lookups, 'hold'>
  readonly numbers: TransactionNumbers
  readonly commit: GroupCommit<StoredMessage, Written>
  /** Undefined if all bodies are stored in the database. */
  readonly bodyObjects: BodyObjects | undefined
  readonly findRepeat: Parameters<typeof resolveRepeat>[1]
  readonly ready: () => boolean
  readonly clock: Clock
  readonly receivedField: ReceivedField
  /** Called after each commit that queued a delivery, unless it was announced with it. */
  readonly announce: (flow: Flow) => void
  /** Called with each message once it is stored. */
  readonly onStored?: ((message: StoredMessage) => void) | undefined
  /** Called if the database had no disk space for a message. */
  readonly onFull: () => void
}

/** Maximum number of messages waiting for a commit. Beyond it clients would time out before they get a response (P7). */
const WAITING_LIMIT = 20_000

/**
 * Validates, prepares and stores a submission; the service is then responsible for its delivery (P1). Returns only after the
 * transaction with the message, its deliveries and their first events has committed.
 *
 * Throws the errors of the rules (rules.ts), rateLimited, creditsExhausted, idempotencyConflict, bodyStoreUnavailable, overloaded or notReady. Throws
 * BeyondShare before any other work.
 */
export async function accept(submission: Submission, dependencies: AcceptDependencies): Promise<Acceptance> {
  const { door } = submission
  const began = performance.now()
  const trace = startTrace({ name: 'accept', kind: 'server', parent: submission.traceParent })
  try {
    const acceptance = await acceptOnce(submission, dependencies, trace)
    trace?.end({ attributes: attributesOf(submission, acceptance) })
    if (acceptance.repeated) count('repeated_messages_total', { door })
    else {
      count('accepted_messages_total', { door })
      count('accepted_recipients_total', { door }, countRecipients(submission))
      observe('accept_seconds', (performance.now() - began) / 1000, { door })
    }
    return acceptance
  } catch (error) {
    if (error instanceof ServiceError) count('refused_messages_total', { door, error: error.errorName })
    const failure = error instanceof ServiceError ? error.errorName : 'internal error'
    trace?.end({ attributes: attributesOf(submission), failure })
    throw error
  }
}

function attributesOf({ door, principal }: Submission, acceptance?: Acceptance): SpanAttributes {
  return {
    'postrider.door': door,
    'postrider.account_id': principal.account.id,
    ...(acceptance && { 'postrider.message_id': acceptance.messageId, 'postrider.repeated': acceptance.repeated }),
  }
}

async function acceptOnce(
  submission: Submission,
  dependencies: AcceptDependencies,
  trace: Span | undefined,
): Promise<Acceptance> {
  const { lookups, numbers, commit, ready, clock, receivedField, announce, findRepeat, bodyObjects } = dependencies
  if (!ready()) throw new ServiceError('notReady')
  if (commit.size >= WAITING_LIMIT)
    throw new ServiceError('overloaded', { reason: 'too many messages waiting for commit' })
  requireShare(countRecipients(submission), dependencies.share.recipients)
  const quotas = createQuotas(dependencies)
  /** Whether the message is or may be stored: a commit whose answer was lost may have happened. */
  let isSent = false
  try {
    const found = await validate(submission, { ...lookups, hold: quotas.hold }).catch(async (error: unknown) => {
      const first = await firstOf(submission, error, findRepeat)
      if (first === undefined) throw error
      return { first }
    })
    if ('first' in found) return { messageId: messageIdText(found.first), repeated: true }
    const now = clock.now()
    const transactionBase = await numbers.take(countRecipients(submission), now)
    const work = longWork()
    const prepared = prepare({
      submission,
      found,
      transactionBase,
      receivedField,
      now: new Date(now),
      traceParent: trace?.traceParent,
    })
    const pause = work.pause()
    if (pause) await pause
    // Awaited only for urgent mail: this is on the way of each message.
    const message = prepared.class === URGENT ? await withinUrgentLimit(prepared, quotas) : prepared
    const { account, rates } = submission.principal
    if (rates.recipients || found.isTrial) {
      const limits = [rates.recipients, found.isTrial ? trialRate(account) : null]
      const first = await takeOrRepeat(message, limits, quotas, findRepeat)
      if (first !== undefined) return { messageId: messageIdText(first), repeated: true }
    }
    // The object of a message that is not stored after all is left there for the same reason: retention/body-objects.ts removes it.
    const stored = bodyObjects?.takes(message.parts)
      ? { ...message, parts: await bodyObjects.put(message, message.parts) }
      : message
    isSent = true
    for (;;) {
      const span = startSpan({ name: 'commit', kind: 'internal', parent: trace?.traceParent })
      const written = await commit.add(stored).finally(() => span?.end())
      if (written.stored) {
        if (written.queued && !written.announced) announce(message)
        dependencies.onStored?.(message)
        return { messageId: messageIdText(message.id), repeated: false }
      }
      const first = written.refused ? undefined : await resolveRepeat(message, findRepeat)
      if (written.refused || first) isSent = false
      if (written.refused) throw new ServiceError('creditsExhausted')
      if (first) return { messageId: messageIdText(first), repeated: true }
      // The earlier idempotency key has expired meanwhile (24 hours): this request counts as the first one.
    }
  } catch (error) {
    if (error instanceof BeyondShare) isSent = false
    if (isDatabaseFull(error)) dependencies.onFull()
    throw databaseRefusal(error) ?? error
  } finally {
    quotas.release(isSent)
  }
}

/** Validates a submission as accept does, without storing it. Throws the errors of the rules, overloaded or notReady. */
export async function validateOnly(
  submission: Submission,
  dependencies: Pick<AcceptDependencies, 'lookups' | 'ready' | keyof QuotaSources>,
): Promise<void> {
  if (!dependencies.ready()) throw new ServiceError('notReady')
  requireShare(countRecipients(submission), dependencies.share.recipients)
  const quotas = createQuotas(dependencies)
  try {
    await validate(submission, { ...dependencies.lookups, hold: quotas.hold })
  } catch (error) {
    throw databaseRefusal(error) ?? error
  } finally {
    quotas.release(false)
  }
}

/** Urgent recipients per account and minute. An account whose mail is all urgent would delay what is urgent of others. */
const URGENT_PER_MINUTE = 600

/** Returns the message as it is, or as normal mail if the account's limit for urgent mail is reached. */
async function withinUrgentLimit(message: StoredMessage, quotas: Quotas): Promise<StoredMessage> {
  const { accountId, deliveries, settings } = message
  const rate = {
    name: `urgent ${accountId}`,
    what: 'urgent recipients per minute',
    limit: URGENT_PER_MINUTE,
    seconds: MINUTE,
  }
  if (await quotas.takeIfLeft(rate, deliveries.length)) return message
  const { class: _urgent, ...others } = settings
  return { ...message, class: NORMAL, settings: others, lowered: true }
}

/**
 * Takes the recipients from the quotas of the key and of an account on trial. A repeated call sends no mail, so even if a quota is exhausted,
 * this returns the id of the message of the first call. Throws rateLimited or keyRestricted.
 */
async function takeOrRepeat(
  message: StoredMessage,
  rates: readonly (Rate | null)[],
  quotas: Quotas,
  findRepeat: AcceptDependencies['findRepeat'],
): Promise<string | undefined> {
  try {
    for (const rate of rates) if (rate) await quotas.takeRecipients(rate, message.deliveries.length)
    return undefined
  } catch (error) {
    const first = message.idempotencyKey === undefined ? undefined : await resolveRepeat(message, findRepeat)
    if (first === undefined) throw error
    return first
  }
}

/**
 * Returns the message that an idempotent call stored before a rule refused its repetition: what it names may have been deleted meanwhile. Undefined if
 * there is none, and for an error that passes: then the caller repeats the call anyway.
 */
async function firstOf(
  { principal, idempotencyKey, fingerprint }: Submission,
  error: unknown,
  findRepeat: AcceptDependencies['findRepeat'],
): Promise<string | undefined> {
  if (!(error instanceof ServiceError) || error.row.status >= 500) return undefined
  if (idempotencyKey === undefined || !fingerprint || !isIdempotencyKey(idempotencyKey)) return undefined
  const first = await findRepeat(principal.account.id, idempotencyKey)
  return first?.fingerprint.equals(fingerprint) ? first.messageId : undefined
}

import { type Actor, OPERATOR } from '../accounts/audit/index.ts'
import type { Principal } from '../accounts/keys/api-key.ts'
import type { RateLimits } from '../accounts/rate-limits/index.ts'
import type { BodyObjects } from '../composition/body-objects.ts'
import type { BuiltMessage } from '../composition/built-message.ts'
import type { LinkOptions } from '../composition/links-for.ts'
import { type LoadedMessage, loadMessages, loadParts } from '../composition/load.ts'
import { createMessageThreads } from '../composition/message-thread.ts'
import { renderDelivery } from '../composition/rendering/render-delivery.ts'
import { createRenderQueue } from '../composition/rendering/render-queue.ts'
import {
  type RenderedTemplate,
  renderTemplate,
  type TemplateRendering,
} from '../composition/rendering/render-template.ts'
import type { EditableTemplates } from '../content/editable/index.ts'
import type { DynamicRenderer } from '../content/engine/index.ts'
import type { Attachments } from '../content/files/index.ts'
import type { Templates } from '../content/templates/index.ts'
import type { Announcer } from '../delivery/queue/queue-channel.ts'
import type { Sources } from '../delivery/sources/index.ts'
import type { Domains } from '../domains/index.ts'
import type { MessageParts } from '../mime/message-parts.ts'
import { createMessageReader, type MessageReader } from '../mime/reader.ts'
import type { Clock } from '../platform/clock.ts'
import type { ByteBudget } from '../platform/concurrency/budget.ts'
import { inItsTurn } from '../platform/concurrency/turns.ts'
import type { Sql } from '../platform/database/database.ts'
import { withDeadline } from '../platform/database/deadlines.ts'
import type { Reads } from '../platform/database/reads.ts'
import { requireShare, type Share } from '../submission/share.ts'
import type { Submission } from '../submission/submission.ts'
import { createTransactionNumbers } from '../submission/transaction-numbers.ts'
import type { Forgotten } from '../suppressions/forgotten.ts'
import { type Acceptance, type AcceptDependencies, accept, validateOnly } from './accept.ts'
import { type AcceptOutcome, type Attempted, acceptAll } from './accept-all.ts'
import * as actions from './actions/index.ts'
import type { Batches } from './batches.ts'
import { type CommitsOptions, createCommits } from './commits.ts'
import { findFirstAnswer, forgetOldAnswers } from './idempotency.ts'
import type { ReceivedField } from './prepare.ts'
import {
  type AttachmentContent,
  type BodyQuery,
  readAttachment,
  type ShownBody,
  showBody,
  withCopy,
} from './queries/message-body.ts'
import { type MessageDetails, type ShowOptions, showMessage } from './queries/show-message.ts'
import { type RequeueResult, type RequeueTarget, requeueMessage } from './requeue/requeue-message.ts'
import { accountMaySend } from './rules/rules.ts'
import { type OwnIdentity, type SenderOperations, senderOperations } from './rules/sender-operations.ts'
import { type SearchOperations, searchOperations } from './search/operations.ts'
import { explainMessage, type MessageWhy, type WhyQuery } from './why/index.ts'

export { BodyUnavailable } from '../composition/body-objects.ts'
export { DamagedBody } from '../composition/damaged-body.ts'
export { Unrenderable } from '../composition/fill.ts'
export { dueFromOf, isAddedTo, type LoadedMessage } from '../composition/load.ts'
export type { RenderedTemplate, TemplateRendering } from '../composition/rendering/render-template.ts'
export type { NextAttempt } from '../delivery/outcomes/next-attempt.ts'
export { LIMITS } from '../submission/limits.ts'
export { fromShortMessageId, messageIdText, parseMessageId, shortMessageId } from '../submission/message-id.ts'
export { metadataOf } from '../submission/metadata.ts'
export { BeyondShare, EVERYTHING, OF_MANY, type Share } from '../submission/share.ts'
export type * from '../submission/submission.ts'
export { transactionNumber } from '../submission/transaction-numbers.ts'
export type { Acceptance } from './accept.ts'
export type { AcceptOutcome, Attempted } from './accept-all.ts'
export {
  type Cancellation,
  NO_CONTENT,
  type Rescheduled,
  type RescheduleOrder,
  type ResendOrder,
  type TryNowResult,
} from './actions/index.ts'
export { BATCH_STATES, type Batches, type BatchState, createBatches as batchesOf, type HeldBatch } from './batches.ts'
export { plainMail } from './plain-mail.ts'
export { type DeliveryPage, type DeliveryQuery, type ListedDelivery, MAX_SEARCHED } from './queries/list-deliveries.ts'
export type { AttachmentContent, BodyQuery, ShownAttachment, ShownBody, ShownText } from './queries/message-body.ts'
export type {
  AttemptDetails,
  DeliveryDetails,
  EventDetails,
  MessageDetails,
  ShowOptions,
} from './queries/show-message.ts'
export type { HoldingEntry, RequeuedDelivery, RequeueRefusal } from './requeue/evaluate.ts'
export type * from './requeue/requeue-message.ts'
export { requireIdempotencyKey } from './rules/field-rules.ts'
export * from './search/index.ts'
export {
  type DeliveryWhy,
  type Expectation,
  MAX_EXPLAINED,
  type MessageWhy,
  WAITING_REASONS,
  type WaitingFacts,
  type WaitingReason,
  type WhyAttempt,
  type WhyQuery,
} from './why/index.ts'

/** One message; with `accountId`, only if it is the account's. */
export interface MessageTarget {
  /** Either form of the id. */
  readonly messageId: string
  readonly accountId?: number | undefined
}

export interface Messages extends SearchOperations, SenderOperations {
  /** See accept.ts. */
  accept(submission: Submission): Promise<Acceptance>
  /** See accept-all.ts. */
  acceptAll(attempted: Iterable<Attempted>, count: number): Promise<AcceptOutcome[]>
  /** Validates as accept does, but does not store, charge or send anything. Throws the same errors of the rules. */
  validateOnly(submission: Submission): Promise<void>
  /** Throws accountSuspended or accountExpired. For entry points that check the account before they read a body. */
  requireMaySend(principal: Principal): void
  /** Throws BeyondShare. For entry points that process each recipient before they create a submission. */
  requireRecipients(count: number): void
  /**
   * Returns a message with its deliveries, attempts and events in chronological order, by either form of its id; undefined if it
   * does not exist, or not in the given account. See show-message.ts.
   */
  show(messageId: string, options?: ShowOptions): Promise<MessageDetails | undefined>
  /** Returns what the deliveries of a message wait for. See why/index.ts. */
  why(query: WhyQuery): Promise<MessageWhy | undefined>
  /** See cancel-message.ts. */
  cancel(order: actions.CancelOrder, by?: Actor): Promise<actions.Cancellation | undefined>
  /** See reschedule.ts. */
  reschedule(order: actions.RescheduleOrder, by?: Actor): Promise<actions.Rescheduled | undefined>
  /** See try-now.ts. */
  tryNow(target: MessageTarget, by?: Actor): Promise<actions.TryNowResult | undefined>
  /** See resend.ts. */
  resend(order: actions.ResendOrder): Promise<Acceptance>
  /** See message-body.ts. */
  body(query: BodyQuery): Promise<ShownBody>
  /** The whole MIME message of {@link body}. */
  source(query: BodyQuery): Promise<Buffer>
  /** See message-body.ts. */
  attachment(query: BodyQuery & { readonly index: number }): Promise<AttachmentContent>
  /** See requeue-message.ts. */
  requeue(target: RequeueTarget, by?: Actor): Promise<RequeueResult | undefined>
  /** Loads the data that the deliveries of these messages share, including small bodies. See load.ts. */
  load(ids: readonly string[]): Promise<Map<string, LoadedMessage>>
  /** Loads a body that {@link load} left out. Throws DamagedBody if it is missing or damaged, or BodyUnavailable. */
  loadParts(message: LoadedMessage): Promise<LoadedMessage>
  /**
   * Returns the unsigned MIME message of one delivery: the stored buffer itself if nothing is added to it, and why content that was asked
   * for could not be added. Messages that take long are built in a thread. Throws (or rejects with) Unrenderable or overloaded.
   */
  render(
    message: LoadedMessage,
    delivery: { recipient: string; recipientNo: number; personal: unknown },
  ): BuiltMessage | Promise<BuiltMessage>
  /** Decomposes a MIME message in a thread. Throws overloaded, or messageMalformed if that would exceed its limits. */
  readParts(message: readonly Buffer[], accountId: number): Promise<MessageParts>
  /** Encodes the parts of a MIME message that no server has to carry, in a thread. See mime/conformance/body.ts. Throws the same errors. */
  readonly conformBody: MessageReader['conform']
  /** Writes a long header in ASCII, in a thread. See mime/conformance/ascii-header.ts. Throws the same errors. */
  readonly asciiHeader: MessageReader['asciiHeader']
  /** Renders a template as for a recipient with these attributes. See render-template.ts. */
  renderTemplate(rendering: TemplateRendering): Promise<RenderedTemplate>
  /** Deletes expired idempotency keys and returns their number. */
  forgetOldAnswers(): Promise<number>
  /** Stops the threads. Requests waiting for one are rejected. */
  close(): Promise<void>
}

export interface MessagesDependencies
  extends Pick<AcceptDependencies, 'onStored'>,
    Pick<CommitsOptions, 'watchCommit'> {
  /** Maximum share of the process's resources for one call. */
  readonly share: Share
  readonly sql: Sql
  /** Those of the primary. */
  readonly reads: Reads
  readonly clock: Clock
  readonly domains: Domains
  readonly rateLimits: RateLimits
  readonly templates: Templates
  readonly editableTemplates: EditableTemplates
  readonly batches: Batches
  readonly sources: Pick<Sources, 'mayUse'>
  readonly renderer: DynamicRenderer
  readonly attachments: Attachments
  readonly forgotten: Forgotten
  readonly receivedField: ReceivedField
  readonly identity: OwnIdentity
  readonly links: LinkOptions
  /** Undefined if all bodies are stored in the database. */
  readonly bodyObjects: BodyObjects | undefined
  /** Budget in bytes for the templates and stored files that this process holds in memory. */
  readonly storedBudget: ByteBudget
  readonly ready: () => boolean
  readonly announcer: Announcer
  /** Called if the database had no disk space for a message. */
  readonly onFull: () => void
}

export function createMessages(dependencies: MessagesDependencies): Messages {
  const {
    share,
    sql,
    reads: current,
    clock,
    domains,
    templates,
    editableTemplates,
    batches,
    sources,
    renderer,
    attachments,
    forgotten,
    links,
    bodyObjects,
    storedBudget,
  } = dependencies
  const { announce, announceBehind } = dependencies.announcer
  const commit = createCommits({ ...dependencies, announceBehind })
  const numbers = createTransactionNumbers(sql)
  const reader = createMessageReader()
  const { publicUrl, trackingScheme } = links
  const threads = createMessageThreads({ keys: links.secrets.shared, publicUrl, trackingScheme })
  const rendering = { ...links, queue: createRenderQueue(renderer), threads }
  const render: Messages['render'] = (message, delivery) =>
    inItsTurn(() => renderDelivery(message, delivery, rendering))
  const bodies = {
    sql: withDeadline(sql, 'work'),
    bodyObjects,
    budget: storedBudget,
    render,
    readParts: (message: readonly Buffer[], accountId: number) => reader.read(message, accountId),
  }
  const lookups = {
    findDomain: domains.findActive,
    findDomainAbove: domains.findAbove,
    stateOfDomain: domains.stateOf,
    trialSender: domains.trialSender,
    findTemplate: templates.find,
    findKeyedTemplate: editableTemplates.find,
    isOpenBatch: batches.isOpen,
    mayUsePool: sources.mayUse,
    findAttachments: attachments.find,
    readAttachments: attachments.read,
    now: clock.now,
  }

  const accepting = {
    ...dependencies,
    lookups,
    numbers,
    commit,
    announce,
    findRepeat: (accountId: number, key: string) => findFirstAnswer(sql, accountId, key),
  }
  const acceptSubmission: Messages['accept'] = (submission) => accept(submission, accepting)

  return {
    accept: acceptSubmission,
    acceptAll: (attempted, count) => acceptAll(attempted, count, accepting),
    resend: (order) =>
      actions.resendMessage(
        { sql: withDeadline(sql, 'work'), bodyObjects, budget: storedBudget, accept: acceptSubmission },
        order,
      ),
    validateOnly: (submission) => validateOnly(submission, accepting),
    requireMaySend: accountMaySend,
    ...senderOperations(lookups, { ...dependencies.identity, verify: reader.signatures }),
    requireRecipients: (count) => requireShare(count, share.recipients),
    show: (messageId, options) => showMessage(withDeadline(sql, 'work'), messageId, options),
    why: (query) => explainMessage(withDeadline(sql, 'work'), query),
    cancel: (order, by = OPERATOR) => actions.cancelMessage(sql, order, by),
    reschedule: (order, by = OPERATOR) => actions.rescheduleMessage({ sql, announce }, order, by),
    tryNow: (target, by = OPERATOR) => actions.tryNow({ sql, announce }, target, by),
    body: (query) => showBody(bodies, query),
    source: (query) => withCopy(bodies, query, ({ source }) => source),
    attachment: (query) => readAttachment(bodies, query),
    ...searchOperations(sql, current),
    requeue: (target, by = OPERATOR) => requeueMessage({ sql, forgotten, announce }, target, by),
    load: (ids) => loadMessages(sql, ids),
    loadParts: (message) => loadParts({ sql, bodyObjects }, message),
    render,
    readParts: (message, accountId) => reader.read(message, accountId),
    conformBody: reader.conform,
    asciiHeader: reader.asciiHeader,
    renderTemplate: (rendering) => renderTemplate(templates, rendering, share),
    forgetOldAnswers: () => forgetOldAnswers(sql),
    close: async () => {
      await Promise.all([threads.close(), reader.close()])
    },
  }
}

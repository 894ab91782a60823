import type { Principal } from '../accounts/keys/api-key.ts'
import type { RateLimits } from '../accounts/rate-limits/index.ts'
import { createLetterThreads } from '../composition/letter-thread.ts'
import type { LinkOptions } from '../composition/links-for.ts'
import { type LoadedMessage, loadMessages, loadParts } from '../composition/load.ts'
import { renderDelivery } from '../composition/render-delivery.ts'
import { createRenderQueue } from '../composition/render-queue.ts'
import { type RenderedTemplate, renderTemplate, type TemplateRendering } from '../composition/render-template.ts'
import type { EditableTemplates } from '../content/editable/index.ts'
import type { DynamicRenderer } from '../content/engine/index.ts'
import type { Attachments } from '../content/files/index.ts'
import type { Templates } from '../content/templates/index.ts'
import type { Domains } from '../domains/index.ts'
import type { MessageParts } from '../mime/message-parts.ts'
import { createMessageReader } from '../mime/reader.ts'
import type { ByteBudget } from '../platform/budget.ts'
import type { Clock } from '../platform/clock.ts'
import { isDatabaseTrouble, type Sql } from '../platform/database/database.ts'
import { createGroupCommit } from '../platform/database/group-commit.ts'
import { ServiceError } from '../platform/errors.ts'
import { inItsTurn } from '../platform/threads/turns.ts'
import { fromShortMessageId } from '../submission/message-id.ts'
import { requireShare, type Share } from '../submission/share.ts'
import type { Submission } from '../submission/submission.ts'
import { transactionNumbersOf } from '../submission/transaction-numbers.ts'
import type { Forgotten } from '../suppressions/forgotten.ts'
import { type Acceptance, accept, rehearse } from './accept.ts'
import type { Batches } from './batches.ts'
import { findFirstAnswer, forgetOldAnswers } from './idempotency.ts'
import { accountMaySend } from './rules/rules.ts'
import { type MessageStory, showMessage } from './show-message.ts'
import { type Written, writeMessages } from './store.ts'
import type { StoredMessage } from './stored-message.ts'

export { Unrenderable } from '../composition/fill.ts'
export { DamagedBody, dueFromOf, isAddedTo, type LoadedMessage } from '../composition/load.ts'
export type { RenderedTemplate, TemplateRendering } from '../composition/render-template.ts'
export { mailboxField } from '../mime/header.ts'
export { essenceOf, parseMediaType } from '../mime/media-type.ts'
export type { FoundFile, MessageParts } from '../mime/message-parts.ts'
export { decodeWords, decodeWordsInPieces, readable } from '../mime/words.ts'
export { LIMITS } from '../submission/limits.ts'
export { fromShortMessageId, messageIdText, shortMessageId } from '../submission/message-id.ts'
export { BeyondShare, EVERYTHING, OF_MANY, type Share } from '../submission/share.ts'
export type * from '../submission/submission.ts'
export { transactionNumber } from '../submission/transaction-numbers.ts'
export type { Acceptance } from './accept.ts'
export { BATCH_STATES, type Batches, type BatchState, batchesOf, type HeldBatch } from './batches.ts'
export type { MessageStory } from './show-message.ts'

export interface Messages {
  /** See accept.ts. */
  accept(submission: Submission): Promise<Acceptance>
  /** Judges as accept does, and stores, charges and sends nothing. Throws what accept throws for the rules. */
  rehearse(submission: Submission): Promise<void>
  /** Throws accountSuspended or accountExpired; for doors that ask before they read a body. */
  requireMaySend(principal: Principal): void
  /** Throws BeyondShare; for doors that have work to do for each recipient before they hand in a submission. */
  requireRecipients(count: number): void
  /** The message with its deliveries, attempts and events in time order, by either form of its id; undefined when there is none. */
  show(messageId: string): Promise<MessageStory | undefined>
  /** What the deliveries of these messages share; small bodies along with it. See load.ts. */
  load(ids: readonly string[]): Promise<Map<string, LoadedMessage>>
  /** Reads a body that did not come along. Throws an Error when it is gone. */
  loadParts(message: LoadedMessage): Promise<LoadedMessage>
  /**
   * The MIME message of one delivery, unsigned: the stored octets themselves where nothing is added to them. What takes long is
   * written in a thread. Throws (or rejects with) Unrenderable, overloaded.
   */
  render(
    message: LoadedMessage,
    delivery: { recipient: string; recipientNo: number; personal: unknown },
  ): Buffer | Promise<Buffer>
  /** Takes a MIME message apart, in a thread. Throws messageMalformed when that would take too much, overloaded. */
  readParts(message: readonly Buffer[]): Promise<MessageParts>
  /** The template as a recipient with these attributes would get it. See render-template.ts. */
  renderTemplate(rendering: TemplateRendering): Promise<RenderedTemplate>
  /** Forgets idempotency keys past their time; answers how many. */
  forgetOldAnswers(): Promise<number>
  /** Ends its threads; what waits for one is refused. */
  close(): Promise<void>
}

export interface MessagesDependencies {
  /** What one call may take of the process. */
  readonly share: Share
  readonly sql: Sql
  readonly clock: Clock
  readonly domains: Domains
  readonly rateLimits: RateLimits
  readonly templates: Templates
  readonly editableTemplates: EditableTemplates
  readonly batches: Batches
  readonly renderer: DynamicRenderer
  readonly attachments: Attachments
  readonly forgotten: Forgotten
  readonly heloName: string
  readonly links: LinkOptions
  /** What `links` has its secrets from, for the thread that writes letters. */
  readonly secretKey: string
  /** Octets of templates and stored files this process holds at once. */
  readonly storedBudget: ByteBudget
  readonly ready: () => boolean
  readonly announce: () => void
  /** The database had no room for a message. */
  readonly onFull: () => void
}

/**
 * A hundred messages are enough to hide a commit's cost, and so are half a megabyte: a heavier batch would only make its first
 * message wait, while the database could be at work on it and this process on the next one.
 */
const BATCH_ITEMS = 128
const BATCH_OCTETS = 512 * 1024
/**
 * Milliseconds after which an accept is refused whose commit does not come: its client may soon have given up (P1, P7). Sooner
 * where the process is not ready: while the database does not answer there is nothing to hope for.
 */
const COMMIT_PATIENCE = { ready: 20_000, notReady: 8000 } as const

export function messagesOf(dependencies: MessagesDependencies): Messages {
  const {
    share,
    sql,
    clock,
    domains,
    rateLimits,
    templates,
    editableTemplates,
    batches,
    renderer,
    attachments,
    forgotten,
    heloName,
    links,
    secretKey,
    storedBudget,
    ready,
    announce,
    onFull,
  } = dependencies
  const commit = createGroupCommit<StoredMessage, Written>({
    write: (batch, isWanted) => writeMessages({ sql, batch, forgotten, isWanted }),
    // A recipient costs about as much as half a kilobyte of body.
    weigh: ({ parts, deliveries }) => parts.reduce((sum, { length }) => sum + length, deliveries.length * 512),
    maxItems: BATCH_ITEMS,
    maxWeight: BATCH_OCTETS,
    sharedFault: isDatabaseTrouble,
    patience: () => (ready() ? COMMIT_PATIENCE.ready : COMMIT_PATIENCE.notReady),
    late: () => new ServiceError(ready() ? 'overloaded' : 'notReady', { reason: 'timed out waiting for commit' }),
    answersInTime: true,
    lanes: 2,
  })
  const numbers = transactionNumbersOf(sql)
  const reader = createMessageReader()
  const { publicUrl, trackingScheme } = links
  const letters = createLetterThreads({ secretKey, publicUrl, trackingScheme })
  const rendering = { ...links, queue: createRenderQueue(renderer), letters }
  const lookups = {
    findDomain: domains.findActive,
    findTemplate: templates.find,
    findKeyedTemplate: editableTemplates.find,
    isOpenBatch: batches.isOpen,
    findAttachments: attachments.find,
    readAttachments: attachments.read,
    now: clock.now,
  }

  return {
    accept: (submission) =>
      accept(submission, {
        lookups,
        storedBudget,
        numbers,
        commit,
        rateLimits,
        findRepeat: (accountId, key) => findFirstAnswer(sql, accountId, key),
        ready,
        share,
        clock,
        heloName,
        announce,
        onFull,
      }),
    rehearse: (submission) => rehearse(submission, { lookups, storedBudget, ready, share }),
    requireMaySend: accountMaySend,
    requireRecipients: (count) => requireShare(count, share.recipients),
    show: (messageId) => showMessage(sql, fromShortMessageId(messageId) ?? messageId),
    load: (ids) => loadMessages(sql, ids),
    loadParts: (message) => loadParts(sql, message),
    render: (message, delivery) => inItsTurn(() => renderDelivery(message, delivery, rendering)),
    readParts: (message) => reader.read(message),
    renderTemplate: (rendering) => renderTemplate(templates, rendering, share),
    forgetOldAnswers: () => forgetOldAnswers(sql),
    close: async () => {
      await Promise.all([letters.close(), reader.close()])
    },
  }
}

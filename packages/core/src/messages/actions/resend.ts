import { createHash } from 'node:crypto'
import type { Principal } from '../../accounts/keys/api-key.ts'
import type { AddedContent } from '../../composition/added-content.ts'
import type { BodySource } from '../../composition/load.ts'
import type { RecipientData } from '../../composition/recipient-data.ts'
import type { ByteBudget } from '../../platform/concurrency/budget.ts'
import type { Sql } from '../../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { messageIdText, parseMessageId } from '../../submission/message-id.ts'
import type {
  EntryPoint,
  MimeContent,
  Submission,
  SubmissionField,
  SubmittedEnvelope,
} from '../../submission/submission.ts'
import type { ResentMessage } from '../../submission/submission-details.ts'
import type { Acceptance } from '../accept.ts'
import { loadBody } from '../queries/message-body.ts'
import { type Correction, correctedDelivery, correctionOf, newHeader, type OriginalDelivery } from './resend-copy.ts'

export interface ResendOrder {
  readonly principal: Principal
  readonly clientAddress: string
  /** Either form of the id. */
  readonly messageId: string
  /** Numbers of the recipients that get it again; all if absent. */
  readonly recipientNos?: readonly number[] | undefined
  /** A corrected address for the recipient, who must be the only one that gets it again. */
  readonly to?: string | undefined
  readonly idempotencyKey?: string | undefined
}

interface Dependencies extends BodySource {
  readonly budget: ByteBudget
  readonly accept: (submission: Submission) => Promise<Acceptance>
}

/** Memory that a message takes: as it is stored, and as it is stored again. */
const COPIES = 2

/**
 * Sends an accepted message again, as a new message with the same content and settings, immediately: to all its recipients or to some of them. It is
 * accepted by the rules that apply now: those of account, key, sender, suppressions, limits and credits. Its Date and Message-ID are new. Each of the two
 * messages names the other. With a corrected address, the copy has it in To and Cc in place of the old one. With the same
 * idempotency key, the call is carried out once within 24 hours.
 *
 * Throws messageNotFound, messageBodyGone, messageBodyUnreadable, bodyStoreUnavailable, parameterInvalid (`recipients`, `to`, `messageId`), overloaded,
 * notReady while recipients of the account are being erased, and the errors of accept.
 */
export async function resendMessage(
  { sql, bodyObjects, budget, accept }: Dependencies,
  order: ResendOrder,
): Promise<Acceptance> {
  const message = await findMessage(sql, order)
  if (!message) throw new ServiceError('messageNotFound')
  if (message.erasing) throw new ServiceError('notReady', { reason: 'recipients of the account are being erased' })
  const found = await findDeliveries(sql, message.id, order.recipientNos)
  const correction = order.to === undefined ? undefined : correctionOf(order.to, found)
  const reserved = Math.min(message.size * COPIES, budget.total)
  if (!budget.take(reserved))
    throw new ServiceError('overloaded', { reason: 'no capacity to send more messages again' })
  try {
    const { parts = new Map() } = await loadBody({ sql, bodyObjects }, message.id)
    const deliveries = correction ? found.map((one) => correctedDelivery(one, correction, parts.get(0))) : found
    return await accept(submissionOf(order, message, deliveries, { parts, correction }))
  } finally {
    budget.give(reserved)
  }
}

interface Original {
  /** UUID. */
  readonly id: string
  readonly door: EntryPoint
  readonly from: string
  readonly subject: string
  readonly tags: readonly string[]
  readonly settings: AddedContent
  readonly format: 'mime' | 'content'
  readonly size: number
  readonly nullReturnPath: boolean
  readonly erasing: boolean
}

async function findMessage(sql: Sql, { principal, messageId }: ResendOrder): Promise<Original | undefined> {
  const id = parseMessageId(messageId)
  if (id === undefined) return undefined
  const [message] = await sql<Original[]>`
    select id::text as id, door, from_address as "from", subject, tags, settings, format, size, null_return_path as "nullReturnPath",
           exists (select from forget_requests f where f.account_id = m.account_id and f.state <> 'done') as erasing
      from messages m where id = ${id}::uuid and account_id = ${principal.account.id}::int`
  return message
}

/** Matches the pseudonyms of erased recipients (retention/privacy). */
const PSEUDONYM = /^forgotten-[0-9a-f]{20}$/
/** Reasons of drops that are in the message itself: it has no content that could be sent. */
export const NO_CONTENT: ReadonlySet<string> = new Set(['template', 'instructions'])

async function findDeliveries(
  sql: Sql,
  id: string,
  numbers: readonly number[] | undefined,
): Promise<OriginalDelivery[]> {
  const chosen = sql`
    message_id = ${id}::uuid ${numbers ? sql`and recipient_no = any(${[...numbers]}::int[])` : sql``}`
  const columns = sql`recipient_no as "recipientNo", recipient, kind, reference, personal`
  const found = await sql<OriginalDelivery[]>`
    select ${columns}, null::text as reason from delivery_queue where ${chosen}
    union all
    select ${columns}, reason from finished_deliveries where ${chosen}
     order by "recipientNo"`
  if (numbers && found.length < new Set(numbers).size) {
    throw invalidParameter('recipients', 'must be numbers of recipients of the message')
  }
  if (found.some(({ reason }) => reason !== null && NO_CONTENT.has(reason))) {
    throw invalidParameter('messageId', 'was dropped because of an error in its content; submit a corrected message')
  }
  const known = found.filter(({ recipient }) => !PSEUDONYM.test(recipient))
  if (known.length === 0) throw new ServiceError('recipientsMissing')
  return known
}

function submissionOf(
  { principal, clientAddress, recipientNos, idempotencyKey }: ResendOrder,
  message: Original,
  deliveries: readonly OriginalDelivery[],
  { parts, correction }: { readonly parts: ReadonlyMap<number, Buffer>; readonly correction: Correction | undefined },
): Submission {
  const { id, door, from, subject, tags, settings, format, nullReturnPath } = message
  const [first = Buffer.alloc(0), ...files] = [...parts.keys()]
    .sort((a, b) => a - b)
    .map((no) => parts.get(no) as Buffer)
  const content: MimeContent = {
    kind: 'mime',
    pieces: [format === 'mime' ? newHeader(first, correction) : first],
    trace: { helo: 'resend', address: clientAddress, protocol: 'HTTP' },
    lacksDate: true,
    lacksMessageId: true,
    nullReturnPath,
  }
  const resent: ResentMessage = {
    originalId: messageIdText(id),
    format,
    settings,
    subject,
    files,
    recipients: deliveries.map(({ recipientNo, recipient, kind, reference, personal }) => ({
      recipient,
      kind,
      reference: reference ?? undefined,
      personal: format === 'content' ? personalOf(recipientNo, personal) : personalOfMime(personal),
    })),
  }
  return {
    door,
    principal,
    clientAddress,
    content,
    tags,
    resent,
    idempotencyKey,
    from: { email: from, name: '' },
    // A message without one has subjects of its recipients, or those of its template.
    subject: subject.trim() === '' ? '-' : subject,
    replyTo: undefined,
    templateId: undefined,
    attachmentIds: [],
    attachments: [],
    envelopes: deliveries.map(({ recipient }) => envelopeTo(recipient)),
    settings: classOf(settings),
    scheduledAt: undefined,
    fingerprint: createHash('sha256')
      .update(`resend ${id} ${recipientNos?.join() ?? 'all'}${correction ? ` ${correction.to}` : ''}`)
      .digest(),
    nameOf: (field) => (correction && field === 'recipient' ? 'to' : (NAMES[field] ?? field)),
  }
}

/** The parameters of the call. */
const NAMES: Partial<Record<SubmissionField, string>> = { recipient: 'recipients', idempotencyKey: 'Idempotency-Key' }

/** The settings that rules check. */
function classOf({ class: of }: AddedContent): Submission['settings'] {
  return of === undefined ? {} : { class: of }
}

function envelopeTo(recipient: string): SubmittedEnvelope {
  return {
    to: [recipient],
    cc: [],
    bcc: [],
    reference: undefined,
    referenceCc: undefined,
    attributes: {},
    headers: {},
    attachments: [],
  }
}

/**
 * Without what was decided for the first message. Copies of one envelope share a Message-ID; without data, the number of the envelope is that of the
 * recipient, which is another one in the new message.
 */
function personalOf(recipientNo: number, personal: RecipientData | null): RecipientData {
  const { messageId: _id, scheduledAt: _time, ...others } = personal ?? { envelope: recipientNo }
  return others
}

function personalOfMime(personal: RecipientData | null): RecipientData | null {
  const { scheduledAt: _time, ...others } = personal ?? {}
  return personal && { ...others, envelope: personal.envelope }
}

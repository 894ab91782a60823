import { BodyUnavailable } from '../../composition/body-objects.ts'
import type { BuiltMessage } from '../../composition/built-message.ts'
import { DamagedBody, MissingBody } from '../../composition/damaged-body.ts'
import { type BodySource, type LoadedMessage, loadMessages, loadParts } from '../../composition/load.ts'
import type { MessageParts } from '../../mime/message-parts.ts'
import type { ByteBudget } from '../../platform/concurrency/budget.ts'
import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { parseMessageId } from '../../submission/message-id.ts'

export interface BodyQuery {
  readonly accountId: number
  /** Either form of the id. */
  readonly messageId: string
  /** The delivery whose copy is shown; by default the first one. */
  readonly recipientNo?: number | undefined
  /** The memory of the result is counted until this settles: the response has been written. */
  readonly held?: Promise<unknown> | undefined
}

/** A recipient's copy of a message, unsigned, without what would count a look at it as an open or click. */
export interface MessageCopy {
  /** 32 hex digits. */
  readonly id: string
  readonly recipientNo: number
  readonly recipient: string
  /** The whole MIME message. */
  readonly source: Buffer
}

export interface BodyDependencies extends BodySource {
  /** Memory that bodies which are shown may take of this process. */
  readonly budget: ByteBudget
  readonly render: (
    message: LoadedMessage,
    delivery: { recipient: string; recipientNo: number; personal: unknown },
  ) => BuiltMessage | Promise<BuiltMessage>
  readonly readParts: (message: readonly Buffer[], accountId: number) => Promise<MessageParts>
}

/** Memory that a copy takes: its stored parts, itself, and its parts once they are decoded. */
const COPIES = 3

/**
 * Builds a recipient's copy as it was sent, without pixel and tracked links, and calls `fn` with it. Its memory is
 * counted until `fn` has ended, and that of its result until `held` settles. An account does not take all of it.
 *
 * Throws messageNotFound, also for a recipient that the message does not have and for a message of another account; messageBodyGone after the
 * retention period; messageBodyUnreadable for a body that is damaged and for a copy that cannot be built; bodyStoreUnavailable; overloaded.
 */
export async function withCopy<T>(
  { sql, bodyObjects, budget, render }: Omit<BodyDependencies, 'readParts'>,
  query: BodyQuery,
  fn: (copy: MessageCopy) => Promise<T> | T,
): Promise<T> {
  const delivery = await findDelivery(sql, query)
  if (!delivery) throw new ServiceError('messageNotFound')
  const { id, size, recipient, recipientNo, personal } = delivery
  const reserved = Math.min(size * COPIES, budget.total)
  if (!budget.take(reserved, query.accountId))
    throw new ServiceError('overloaded', { reason: 'no capacity to show more bodies' })
  let result = 0
  try {
    const message = await loadBody({ sql, bodyObjects }, id)
    const { openTracking: _open, clickTracking: _click, ...settings } = message.settings
    const { octets: source } = await built(() => render({ ...message, settings }, { recipient, recipientNo, personal }))
    const made = await fn({ id: id.replaceAll('-', ''), recipientNo, recipient, source })
    if (query.held) result = Math.min(source.length, reserved)
    return made
  } finally {
    budget.give(reserved - result, query.accountId)
    if (result > 0) void query.held?.finally(() => budget.give(result, query.accountId))
  }
}

async function built(fn: () => BuiltMessage | Promise<BuiltMessage>): Promise<BuiltMessage> {
  try {
    return await fn()
  } catch (error) {
    throw error instanceof ServiceError ? error : unreadable('this copy cannot be built from it', error)
  }
}

/**
 * Loads a message with its body; `id` is a UUID. Throws messageNotFound, messageBodyGone if it is missing, messageBodyUnreadable if it is damaged,
 * or bodyStoreUnavailable.
 */
export async function loadBody(source: BodySource, id: string): Promise<LoadedMessage> {
  const message = (await loadMessages(source.sql, [id])).get(id)
  if (!message) throw new ServiceError('messageNotFound')
  try {
    return message.parts ? message : await loadParts(source, message)
  } catch (error) {
    if (error instanceof MissingBody) throw new ServiceError('messageBodyGone', { reason: error.message })
    if (error instanceof DamagedBody) throw unreadable(error.message, error)
    if (error instanceof BodyUnavailable)
      throw new ServiceError('bodyStoreUnavailable', { reason: error.message, cause: error.cause })
    throw error
  }
}

function unreadable(problem: string, cause: unknown): ServiceError {
  return new ServiceError('messageBodyUnreadable', { values: { problem }, cause })
}

interface Found {
  readonly id: string
  readonly size: number
  readonly recipientNo: number
  readonly recipient: string
  readonly personal: unknown
}

async function findDelivery(sql: Sql, { accountId, messageId, recipientNo }: BodyQuery): Promise<Found | undefined> {
  const id = parseMessageId(messageId)
  if (id === undefined) return undefined
  const chosen = sql`
    message_id = ${id}::uuid ${recipientNo === undefined ? sql`` : sql`and recipient_no = ${recipientNo}::int`} order by recipient_no limit 1`
  const columns = sql`recipient_no, recipient, personal`
  const [found] = await sql<Found[]>`
    select m.id::text as id, m.size, d.recipient_no as "recipientNo", d.recipient, d.personal
      from messages m cross join lateral (
        select * from (
          (select ${columns} from delivery_queue where ${chosen}) union all
          (select ${columns} from finished_deliveries where ${chosen})) each order by recipient_no limit 1) d
     where m.id = ${id}::uuid and m.account_id = ${accountId}::int`
  return found
}

/** The parts of a copy that a person looks at. */
export interface ShownBody {
  readonly recipientNo: number
  readonly recipient: string
  readonly html: ShownText | null
  readonly text: ShownText | null
  /** The beginning of the MIME message, with its header. */
  readonly source: ShownText
  /** The fields of the header as they are written, in order; at most 500. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  readonly attachments: readonly ShownAttachment[]
  /** False if the message has more parts than are read. */
  readonly isComplete: boolean
}

export interface ShownText {
  readonly text: string
  /** Bytes of the whole of it. */
  readonly size: number
  /** Whether only its beginning is shown. */
  readonly isCut: boolean
}

export interface ShownAttachment {
  /** For {@link readAttachment}. */
  readonly index: number
  readonly fileName: string | null
  /** A media type without parameters. */
  readonly type: string
  readonly size: number
  readonly isInline: boolean
  readonly contentId: string | null
}

/** Bytes of a text that are shown; the whole is downloaded. */
const MAX_SHOWN = 256 * 1024
const MAX_HEADER = 64 * 1024
const MAX_FIELDS = 500

/** Returns what a recipient reads in a message. Throws the errors of {@link withCopy}, and messageMalformed. */
export function showBody(dependencies: BodyDependencies, query: BodyQuery): Promise<ShownBody> {
  return withCopy(dependencies, query, async ({ source, recipientNo, recipient }) => {
    const { html, text, files, complete } = await dependencies.readParts([source], query.accountId)
    return {
      recipientNo,
      recipient,
      html: html ? shownText(html) : null,
      text: text ? shownText(text) : null,
      source: shownText(source),
      headers: headersOf(source),
      attachments: files.map(({ fileName, type, inline, contentId, content }, index) => ({
        index,
        fileName: fileName ?? null,
        type,
        size: content.length,
        isInline: inline,
        contentId: contentId ?? null,
      })),
      isComplete: complete,
    }
  })
}

export interface AttachmentContent {
  readonly fileName: string | undefined
  readonly type: string
  readonly content: Uint8Array
}

/** Returns an attachment of a copy by its index in {@link ShownBody}. Throws the errors of {@link showBody}. */
export function readAttachment(
  dependencies: BodyDependencies,
  query: BodyQuery & { readonly index: number },
): Promise<AttachmentContent> {
  return withCopy(dependencies, query, async ({ source }) => {
    const { files } = await dependencies.readParts([source], query.accountId)
    const file = files[query.index]
    if (!file) throw new ServiceError('messageNotFound')
    const { fileName, type, content } = file
    return { fileName, type, content }
  })
}

function shownText(octets: Uint8Array): ShownText {
  const isCut = octets.length > MAX_SHOWN
  // A character that is cut in two would be shown as a replacement character.
  const text = new TextDecoder().decode(octets.subarray(0, MAX_SHOWN), { stream: isCut })
  return { text: text.toWellFormed(), size: octets.length, isCut }
}

function headersOf(source: Buffer): ShownBody['headers'] {
  const end = source.indexOf('\r\n\r\n')
  const head = source.toString('utf8', 0, Math.min(end === -1 ? source.length : end, MAX_HEADER))
  const fields: { name: string; value: string }[] = []
  for (const line of head.split('\r\n')) {
    const last = fields.at(-1)
    if (line.startsWith(' ') || line.startsWith('\t')) {
      if (last) last.value += ` ${line.trim()}`
      continue
    }
    if (fields.length === MAX_FIELDS) break
    const colon = line.indexOf(':')
    if (colon > 0) fields.push({ name: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() })
  }
  return fields
}

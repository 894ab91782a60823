import type { Sql } from '../database.ts'
import { decodePart, type EncodedPart } from './body.ts'
import { composeMessage } from './compose.ts'
import type { ContentDocument } from './content.ts'
import type { Personal } from './personal.ts'
import { messageIdText } from './settle.ts'

/** A message as the worker needs it: what all its deliveries share. */
export interface LoadedMessage {
  /** UUID. */
  readonly id: string
  readonly domainId: number
  readonly accountId: number
  readonly acceptedAt: Date
  /** When it was first due: the time of accept, or what it was scheduled for. */
  readonly dueFrom: Date
  readonly format: 'mime' | 'content'
  readonly nullReturnPath: boolean
  /** Octets in memory, about. */
  readonly size: number
  /** Undefined until loaded: large bodies are read one by one, when their turn comes. */
  readonly parts: ReadonlyMap<number, Buffer> | undefined
}

/** Bodies up to this come along with the claim; larger ones wait for {@link loadParts}. */
const ALONG = 128 * 1024
/** A parameter or result travels as hexadecimal text; slices keep that from tripling a large body in memory. */
const SLICE = 2 * 1024 * 1024

type MessageRow = Omit<LoadedMessage, 'parts'>
type PartRow = EncodedPart & { messageId: string; part: number }

export async function loadMessages(sql: Sql, ids: readonly string[]): Promise<Map<string, LoadedMessage>> {
  const [rows, parts] = await Promise.all([
    sql<MessageRow[]>`
      select id::text, domain_id as "domainId", account_id as "accountId", accepted_at as "acceptedAt",
             greatest(accepted_at, scheduled_at) as "dueFrom", format, null_return_path as "nullReturnPath", size
        from messages where id = any(${[...ids]}::uuid[])`,
    sql<PartRow[]>`
      select b.message_id::text as "messageId", b.part, b.encoding, b.content
        from messages m join bodies b on b.message_id = m.id
       where m.id = any(${[...ids]}::uuid[]) and m.size <= ${ALONG}`,
  ])
  const byMessage = Map.groupBy(parts, ({ messageId }) => messageId)
  return new Map(
    rows.map((row) => {
      const own = byMessage.get(row.id)
      return [row.id, { ...row, parts: own && decodeParts(own, row.size) }]
    }),
  )
}

/** Undefined when they are damaged: the message then fails by itself, when its turn comes, and not all that were claimed with it. */
function decodeParts(parts: readonly PartRow[], size: number): Map<number, Buffer> | undefined {
  try {
    return new Map(parts.map((part) => [part.part, decodePart(part, size)]))
  } catch {
    return undefined
  }
}

/** Reads the body of a large message, a slice at a time. Throws an Error when it is gone. */
export async function loadParts(sql: Sql, message: LoadedMessage): Promise<LoadedMessage> {
  const heads = await sql<{ part: number; encoding: EncodedPart['encoding']; length: number }[]>`
    select part, encoding, octet_length(content) as length from bodies where message_id = ${message.id}::uuid order by part`
  if (heads.length === 0) throw new Error('the body of the message is gone')
  const parts = new Map<number, Buffer>()
  for (const { part, encoding, length } of heads) {
    const content = Buffer.allocUnsafe(length)
    for (let at = 0; at < length; at += SLICE) {
      const [row] = await sql<{ slice: Buffer }[]>`
        select substring(content from ${at + 1} for ${SLICE}) as slice from bodies
         where message_id = ${message.id}::uuid and part = ${part}`
      row?.slice.copy(content, at)
    }
    parts.set(part, decodePart({ encoding, content }, message.size))
  }
  return { ...message, parts }
}

const documents = new WeakMap<LoadedMessage, ContentDocument>()

/** The MIME message of one delivery, unsigned; the same octets at every attempt. */
export function renderDelivery(
  message: LoadedMessage,
  delivery: { recipient: string; recipientNo: number; personal: unknown },
): Buffer {
  const first = message.parts?.get(0)
  if (!message.parts || !first) throw new Error('the body of the message is not loaded')
  if (message.format === 'mime') return first
  let content = documents.get(message)
  if (!content) documents.set(message, (content = JSON.parse(first.toString()) as ContentDocument))
  return composeMessage({
    messageId: messageIdText(message.id),
    recipientNo: delivery.recipientNo,
    recipient: delivery.recipient,
    acceptedAt: message.acceptedAt,
    content,
    personal: delivery.personal as Personal | null,
    parts: message.parts,
  })
}

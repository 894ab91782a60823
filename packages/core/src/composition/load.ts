import { setImmediate } from 'node:timers/promises'
import { LIFETIME_HOURS } from '../delivery/schedule.ts'
import { lossOf } from '../domains/loss.ts'
import type { Sql } from '../platform/database/database.ts'
import { release } from '../platform/release.ts'
import type { Additions } from './additions.ts'
import { decodePart, type Encoding, PartDigest } from './body.ts'
import type { Personal } from './personal.ts'

/** A message as the worker needs it: what all its deliveries share. */
export interface LoadedMessage {
  /** UUID. */
  readonly id: string
  readonly domainId: number
  /** The domain was lost since accept, and none of it is sent any more: the reason. */
  readonly loss: string | null
  readonly accountId: number
  readonly acceptedAt: Date
  /** When it was first due: the time of accept, or what it was scheduled for. */
  readonly dueFrom: Date
  readonly format: 'mime' | 'content'
  readonly nullReturnPath: boolean
  /** What is added on its way out. */
  readonly settings: Additions
  /** Octets in memory, about. */
  readonly size: number
  /** Undefined until loaded: large bodies are read one by one, when their turn comes. */
  readonly parts: ReadonlyMap<number, Buffer> | undefined
}

/** Bodies up to this come along with the claim; larger ones wait for {@link loadParts}. */
const ALONG = 128 * 1024
/** Octets that are inflated before others have a turn: 2 ms. */
const AT_ONCE = 512 * 1024
/**
 * A statement whose columns are not known yet answers in hexadecimal text; slices keep that from tripling a large body in memory. 2 MB
 * took 9 ms of a turn.
 */
const SLICE = 512 * 1024

/** Octets of a part from which on it is memory that threads share. What is so large is stored as it is (body.ts). */
const SHARED = 1024 * 1024

interface Row extends Omit<LoadedMessage, 'parts'> {
  readonly part: number | null
  readonly encoding: Encoding
  readonly content: Buffer
  /** Null: stored by a version that kept none. */
  readonly digest: number | null
}

/** What is stored of a message is not what was: it is gone, cut off or altered, and is not sent. */
export class DamagedBody extends Error {
  override readonly name = 'DamagedBody'
}

export async function loadMessages(sql: Sql, ids: readonly string[]): Promise<Map<string, LoadedMessage>> {
  // The join finds the one partition of each id; `id = any(...)` would ask all of them.
  const rows = await sql<Row[]>`
    select m.id, m.domain_id as "domainId", m.account_id as "accountId", m.accepted_at as "acceptedAt",
           greatest(m.accepted_at, m.scheduled_at) as "dueFrom", m.format, m.null_return_path as "nullReturnPath", m.size,
           m.settings, ${lossOf(sql, sql`m.domain_id`)} as loss,
           b.part, b.encoding, b.content, b.digest
      from unnest(${[...ids]}::uuid[]) as wanted(id)
      join messages m on m.id = wanted.id
      left join bodies b on b.message_id = m.id and m.size <= ${ALONG}`
  const messages = new Map<string, LoadedMessage>()
  let inflated = 0
  for (const own of Map.groupBy(rows, ({ id }) => id).values()) {
    const { part, encoding: _encoding, content: _content, digest: _digest, ...message } = own[0] as Row
    messages.set(message.id, { ...message, parts: part === null ? undefined : decodeParts(own, message.size) })
    if (part !== null) inflated += message.size
    if (inflated < AT_ONCE) continue
    inflated = 0
    await setImmediate()
  }
  return messages
}

/** Undefined when they are damaged: the message then fails by itself, when its turn comes, and not all that were claimed with it. */
function decodeParts(rows: readonly Row[], size: number): Map<number, Buffer> | undefined {
  try {
    for (const { id, part, content, digest } of rows) {
      const found = new PartDigest(id, part as number)
      found.add(content)
      requireSame(found, digest)
    }
    const parts = new Map(rows.map((row) => [row.part as number, decodePart(row, size)]))
    requireWhole(parts, size)
    return parts
  } catch {
    return undefined
  }
}

/** What is stored as it is can lack octets, or a part, without a word from the decoder (F32: never sent altered). */
function requireWhole(parts: ReadonlyMap<number, Buffer>, size: number): void {
  let sum = 0
  for (const { length } of parts.values()) sum += length
  if (sum !== size) throw new DamagedBody(`the stored body of this message has ${sum} octets of ${size}`)
}

/** Nor can it tell octets that were changed, by a hand or a disk. */
function requireSame(found: PartDigest, stored: number | null): void {
  if (stored !== null && found.value !== stored) {
    throw new DamagedBody('the stored body of this message was changed after it was accepted')
  }
}

/** Reads the body of a large message, a slice at a time. Throws {@link DamagedBody}. */
export async function loadParts(sql: Sql, message: LoadedMessage): Promise<LoadedMessage> {
  const heads = await sql<{ part: number; encoding: Encoding; digest: number | null; length: number }[]>`
    select part, encoding, digest, octet_length(content) as length from bodies where message_id = ${message.id}::uuid order by part`
  if (heads.length === 0) throw new DamagedBody('the stored body of this message is gone')
  const parts = new Map<number, Buffer>()
  for (const { part, encoding, digest, length } of heads) {
    const found = new PartDigest(message.id, part)
    // Threads read what is shared without a copy of it: one of 28 MB held the main loop up for 50 ms.
    const content = length > SHARED ? Buffer.from(new SharedArrayBuffer(length)) : Buffer.allocUnsafe(length)
    for (let at = 0; at < length; at += SLICE) {
      const [row] = await sql<{ slice: Buffer }[]>`
        select substring(content from ${at + 1} for ${SLICE}) as slice from bodies
         where message_id = ${message.id}::uuid and part = ${part}`
      if (!row) throw new DamagedBody('the stored body of this message is gone')
      found.add(row.slice)
      row.slice.copy(content, at)
      release(row.slice)
    }
    requireSame(found, digest)
    parts.set(part, decodeWhole({ encoding, content }, message.size))
  }
  requireWhole(parts, message.size)
  return { ...message, parts }
}

function decodeWhole(part: { readonly encoding: Encoding; readonly content: Buffer }, size: number): Buffer {
  try {
    return decodePart(part, size)
  } catch (error) {
    throw new DamagedBody('the stored body of this message is damaged', { cause: error })
  }
}

/** Is there anything that differs for each recipient? */
export function isAddedTo({ settings }: Pick<LoadedMessage, 'settings'>): boolean {
  const { footer, clickTracking, openTracking, unsubscribe, linkParameters } = settings
  return Boolean(footer || clickTracking || openTracking || unsubscribe || linkParameters)
}

const HOUR = 3_600_000

/**
 * When a delivery was first due, in milliseconds since 1970: it may have a time of its own, and one that was held back is due from its
 * release, which its end tells. Signed for the time before, a message of a batch that was paused for days came with a signature past its end.
 */
export function dueFromOf(
  { dueFrom }: LoadedMessage,
  { personal, expiresAt }: { readonly personal: unknown; readonly expiresAt: number },
): number {
  const own = (personal as Personal | null)?.scheduledAt
  const due = own === undefined ? dueFrom.getTime() : Date.parse(own)
  const released = expiresAt - LIFETIME_HOURS * HOUR
  // The end is reckoned from a moment of the accept; what is later by more was released.
  return released - due > HOUR ? released : due
}

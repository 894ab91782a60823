import { setImmediate } from 'node:timers/promises'
import { lifetimeOf } from '../delivery/outcomes/schedule.ts'
import { lossOf } from '../domains/loss.ts'
import type { Sql } from '../platform/database/database.ts'
import { release } from '../platform/process/release.ts'
import type { AddedContent } from './added-content.ts'
import { decodePart, type Encoding, PartDigest } from './body.ts'
import { type BodyObjects, BodyUnavailable } from './body-objects.ts'
import { DamagedBody, MissingBody } from './damaged-body.ts'
import type { RecipientData } from './recipient-data.ts'

/** A message as a worker loads it: the data that its deliveries share. */
export interface LoadedMessage {
  /** UUID. */
  readonly id: string
  readonly domainId: number
  /** The reason if the domain was lost after the message was accepted, so that none of it is sent; otherwise null. */
  readonly loss: string | null
  readonly accountId: number
  readonly acceptedAt: Date
  /** Time when it was first due: when it was accepted, or the scheduled time if that is later. */
  readonly dueFrom: Date
  readonly format: 'mime' | 'content'
  readonly nullReturnPath: boolean
  readonly tags: readonly string[]
  /** Added content. */
  readonly settings: AddedContent
  /** Approximate size in memory in bytes. */
  readonly size: number
  /** Undefined until loaded: large bodies are loaded individually, shortly before they are sent. */
  readonly parts: ReadonlyMap<number, Buffer> | undefined
}

/** The flow of a message: the mail of an account and class, which takes turns with that of others. */
export function flowOf({ accountId, settings }: Pick<LoadedMessage, 'accountId' | 'settings'>): string {
  return `${accountId} ${settings.class ?? ''}`
}

/** Bytes up to which bodies are loaded with the message; larger ones are loaded by {@link loadParts}. */
const MAX_INLINE = 128 * 1024
/** Bytes that are inflated without yielding to the event loop, which takes 2 ms. */
const MAX_UNINTERRUPTED = 512 * 1024
/**
 * Bytes read per statement. The first run of a statement, whose column types are not known yet, returns hexadecimal text, which
 * would triple a large body in memory; 2 MB took 9 ms of the event loop.
 */
const SLICE = 512 * 1024

/** Bytes above which a part is loaded into memory shared by threads. Parts of that size are not deflated (body.ts). */
const SHARED = 1024 * 1024

interface Row extends Omit<LoadedMessage, 'parts'> {
  readonly part: number | null
  readonly encoding: Encoding
  readonly content: Buffer
  /** Null if `content` is the part itself. */
  readonly objectLength: number | null
  /** Null if stored by a version without checksums. */
  readonly digest: number | null
}

/** Loads messages by id, with their bodies if these are small and in the database. A damaged body is left out. */
export async function loadMessages(sql: Sql, ids: readonly string[]): Promise<Map<string, LoadedMessage>> {
  // The join reads only the partition of each id; `id = any(...)` would scan all partitions.
  const rows = await sql<Row[]>`
    select m.id, m.domain_id as "domainId", m.account_id as "accountId", m.accepted_at as "acceptedAt",
           greatest(m.accepted_at, m.scheduled_at) as "dueFrom", m.format, m.null_return_path as "nullReturnPath", m.size,
           m.settings, m.tags, ${lossOf(sql, sql`m.domain_id`)} as loss,
           b.part, b.encoding, b.content, b.digest, b.object_length as "objectLength"
      from unnest(${[...ids]}::uuid[]) as wanted(id)
      join messages m on m.id = wanted.id
      left join bodies b on b.message_id = m.id and m.size <= ${MAX_INLINE}`
  const messages = new Map<string, LoadedMessage>()
  let inflated = 0
  for (const own of Map.groupBy(rows, ({ id }) => id).values()) {
    const { part, objectLength, encoding: _encoding, content: _content, digest: _digest, ...message } = own[0] as Row
    const isHere = part !== null && objectLength === null
    messages.set(message.id, { ...message, parts: isHere ? decodeParts(own, message.size) : undefined })
    if (isHere) inflated += message.size
    if (inflated < MAX_UNINTERRUPTED) continue
    inflated = 0
    await setImmediate()
  }
  return messages
}

/** Returns undefined for damaged parts: the message then fails on its own in loadParts, not the others claimed with it. */
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

/** Checks the size, because the decoder does not detect missing parts or bytes of raw bodies (F32: never sent altered). */
function requireWhole(parts: ReadonlyMap<number, Buffer>, size: number): void {
  let sum = 0
  for (const { length } of parts.values()) sum += length
  if (sum !== size) throw new DamagedBody(`the stored body of this message has ${sum} bytes instead of ${size}`)
}

/** Checks the checksum, because the decoder does not detect bytes that a disk or a manual update changed. */
function requireSame(found: PartDigest, stored: number | null): void {
  if (stored !== null && found.value !== stored) {
    throw new DamagedBody('the stored body of this message was changed after it was accepted')
  }
}

/** The places that bodies are read from. */
export interface BodySource {
  readonly sql: Sql
  /** Undefined without BODY_STORE. */
  readonly bodyObjects: BodyObjects | undefined
}

interface Head {
  readonly part: number
  readonly encoding: Encoding
  readonly digest: number | null
  readonly length: number
  /** Set if the part is in object storage. */
  readonly objectLength: number | null
  readonly key: Buffer | null
}

/** Loads the body of a large message, in slices or from object storage. Throws {@link DamagedBody} or {@link BodyUnavailable}. */
export async function loadParts({ sql, bodyObjects }: BodySource, message: LoadedMessage): Promise<LoadedMessage> {
  const heads = await sql<Head[]>`
    select part, encoding, digest, octet_length(content) as length, object_length as "objectLength",
           case when object_length is not null then content end as key
      from bodies where message_id = ${message.id}::uuid order by part`
  if (heads.length === 0) throw new MissingBody('the stored body of this message is missing')
  const parts =
    heads[0]?.objectLength === null
      ? await readRows(sql, message, heads)
      : await readObject(bodyObjects, message, heads)
  requireWhole(parts, message.size)
  return { ...message, parts }
}

async function readObject(
  bodyObjects: BodyObjects | undefined,
  message: LoadedMessage,
  heads: readonly Head[],
): Promise<Map<number, Buffer>> {
  // The setting of this process differs from that of the one which accepted the message.
  if (!bodyObjects)
    throw new BodyUnavailable({ cause: new Error('BODY_STORE is not set, and the body is in object storage') })
  const stored = heads.map(({ part, objectLength, key, digest }) => {
    if (objectLength === null || key === null) throw new DamagedBody('the stored body of this message is damaged')
    const found = new PartDigest(message.id, part)
    found.add(key)
    requireSame(found, digest)
    return { part, length: objectLength, key }
  })
  const contents = await bodyObjects.get(message, stored)
  return new Map(
    heads.map(({ part, encoding }, at) => [
      part,
      decodeWhole({ encoding, content: contents[at] as Buffer }, message.size),
    ]),
  )
}

async function readRows(sql: Sql, message: LoadedMessage, heads: readonly Head[]): Promise<Map<number, Buffer>> {
  const parts = new Map<number, Buffer>()
  for (const { part, encoding, digest, length } of heads) {
    const found = new PartDigest(message.id, part)
    // Threads read shared memory without a copy; copying 28 MB blocked the main loop for 50 ms.
    const content = length > SHARED ? Buffer.from(new SharedArrayBuffer(length)) : Buffer.allocUnsafe(length)
    for (let at = 0; at < length; at += SLICE) {
      const [row] = await sql<{ slice: Buffer }[]>`
        select substring(content from ${at + 1} for ${SLICE}) as slice from bodies
         where message_id = ${message.id}::uuid and part = ${part}`
      if (!row) throw new MissingBody('the stored body of this message is missing')
      found.add(row.slice)
      row.slice.copy(content, at)
      release(row.slice)
    }
    requireSame(found, digest)
    parts.set(part, decodeWhole({ encoding, content }, message.size))
  }
  return parts
}

function decodeWhole(part: { readonly encoding: Encoding; readonly content: Buffer }, size: number): Buffer {
  try {
    return decodePart(part, size)
  } catch (error) {
    throw new DamagedBody('the stored body of this message is damaged', { cause: error })
  }
}

/** Returns whether anything is added to the message. */
export function isAddedTo({ settings }: Pick<LoadedMessage, 'settings'>): boolean {
  const { footer, clickTracking, openTracking, unsubscribe, linkParameters } = settings
  return Boolean(footer || clickTracking || openTracking || unsubscribe || linkParameters)
}

const HOUR = 3_600_000

/**
 * Returns when a delivery was first due, in milliseconds since 1970. A delivery may have its own scheduled time, and one that was
 * held back is due from its release, which follows from its expiry time. Signatures count from this time: counted from the time
 * before the release, that of a message whose batch was paused for days would have expired on arrival.
 */
export function dueFromOf(
  { dueFrom, settings }: Pick<LoadedMessage, 'dueFrom' | 'settings'>,
  { personal, expiresAt }: { readonly personal: unknown; readonly expiresAt: number },
): number {
  const own = (personal as RecipientData | null)?.scheduledAt
  const due = own === undefined ? dueFrom.getTime() : Date.parse(own)
  const released = expiresAt - lifetimeOf(settings) * 1000
  // Without a release, the expiry time was computed when the message was accepted and yields nearly the due time.
  return released - due > HOUR ? released : due
}

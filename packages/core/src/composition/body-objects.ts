import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createCircuit } from '../platform/concurrency/circuit.ts'
import { createFairTurns } from '../platform/concurrency/fair-turns.ts'
import type { BodyStoreConfig, Config } from '../platform/config/config.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Log } from '../platform/process/log.ts'
import { release } from '../platform/process/release.ts'
import { createObjectStore, type ObjectStore, ObjectStoreError } from '../platform/storage/object-store.ts'
import type { EncodedPart } from './body.ts'
import { bodyKey } from './body-key.ts'
import { DamagedBody } from './damaged-body.ts'

/** The bodies of large messages, in object storage: one object per message, of all its parts in order, each encrypted with a key of its own. */
export interface BodyObjects {
  /** Returns whether a body is stored there, by its parts as they would be stored in the database. */
  takes(parts: readonly EncodedPart[]): boolean
  /**
   * Stores a body and returns the parts to be stored in its stead, each of which is the key of its content. Resolves when the object is
   * durable. Throws bodyStoreUnavailable.
   */
  put(message: ObjectOwner, parts: readonly EncodedPart[]): Promise<EncodedPart[]>
  /** Returns the parts as they were stored. Throws {@link BodyUnavailable}, or {@link DamagedBody} if the object is missing or altered. */
  get(message: ObjectOwner, parts: readonly ObjectPart[]): Promise<Buffer[]>
  /** Why bodies cannot be stored or read at present, for the operator. */
  problems(): string[]
}

export interface ObjectOwner {
  /** UUIDv7. */
  readonly id: string
  readonly accountId: number
}

export interface ObjectPart {
  readonly part: number
  readonly key: Buffer
  readonly length: number
}

/** A body cannot be read at present. It may be read later. The message can be shown to the account. */
export class BodyUnavailable extends Error {
  override readonly name = 'BodyUnavailable'

  constructor(options?: ErrorOptions) {
    super('the object storage that has the body of this message is not available', options)
  }
}

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
/** Each key encrypts one part only, so its nonce need not differ. */
const NONCE = Buffer.alloc(12)
const TAG_BYTES = 16
/** Bytes encrypted without yielding to the event loop: 0.2 ms. */
const CHUNK = 256 * 1024
/** Bytes above which a part is read into memory shared by threads: copying 28 MB to one blocked the main loop for 50 ms. */
const SHARED = 1024 * 1024
/**
 * Bytes of encrypted copies that a process stores at once; one body may always be stored. Accounts take turns. What waits is bounded by the budget
 * of bodies, and by its patience.
 */
const TURNS = { capacity: 32 * 1024 * 1024, waiting: Number.POSITIVE_INFINITY, each: Number.POSITIVE_INFINITY } as const
/** Milliseconds for a request, and for each megabyte more. A client of SMTP or HTTP waits longer. */
const PATIENCE = { request: 8000, perMegabyte: 400 } as const

/** Both are undefined without BODY_STORE. */
export function openBodyStore(
  { bodyStore }: Pick<Config, 'bodyStore'>,
  log: Log,
): { objects: ObjectStore | undefined; bodyObjects: BodyObjects | undefined } {
  const objects = bodyStore && createObjectStore(bodyStore)
  return { objects, bodyObjects: bodyStore && objects && createBodyObjects(objects, bodyStore, log) }
}

function createBodyObjects(store: ObjectStore, { above }: Pick<BodyStoreConfig, 'above'>, log: Log): BodyObjects {
  const turns = createFairTurns(TURNS)
  const storing = createCircuit((state, error) => noteChange('stored', state, error))
  const reading = createCircuit((state, error) => noteChange('read', state, error), isUnavailable)

  function noteChange(what: 'stored' | 'read', state: 'open' | 'closed', error: unknown): void {
    if (state === 'closed') log.info(`bodies can be ${what} in object storage again`)
    else log.error({ reason: reasonOf(error) }, `bodies cannot be ${what} in object storage`)
  }

  async function putObject(
    message: ObjectOwner,
    parts: readonly EncodedPart[],
    length: number,
  ): Promise<EncodedPart[]> {
    const { object, keys } = await encrypt(message, parts, length)
    await store.put(bodyKey(message), object, { timeoutMs: patienceFor(length) })
    return parts.map(({ encoding, length }, part) => {
      const key = keys[part] as Buffer
      return { encoding, pieces: [key], length: key.length, objectLength: length + TAG_BYTES }
    })
  }

  return {
    takes: (parts) => lengthOf(parts) > above,
    async put(message, parts) {
      const length = lengthOf(parts) + parts.length * TAG_BYTES
      try {
        const act = () => storing.run(() => putObject(message, parts, length))
        return await turns.take(String(message.accountId), act, { size: length, patienceMs: PATIENCE.request })
      } catch (error) {
        if (error instanceof ServiceError) throw error
        // The reason says all. A stack for each refused call would fill the log.
        const cause = error instanceof ObjectStoreError ? undefined : error
        throw new ServiceError('bodyStoreUnavailable', { reason: reasonOf(error), cause })
      }
    },
    async get(message, parts) {
      const length = parts.reduce((sum, part) => sum + part.length, 0)
      let object: Buffer
      try {
        object = await reading.run(() =>
          store.get(bodyKey(message), { maxBytes: length, timeoutMs: patienceFor(length) }),
        )
      } catch (error) {
        if (isUnavailable(error)) throw new BodyUnavailable({ cause: error })
        throw (error as ObjectStoreError).kind === 'missing'
          ? new DamagedBody('the stored body of this message is missing from the object storage', { cause: error })
          : altered(error)
      }
      if (object.length !== length) throw altered()
      const contents = await decrypt(message, parts, object)
      release(object)
      return contents
    },
    problems: () => [
      ...(storing.isOpen() ? [`large messages are refused: ${reasonOf(storing.lastError())}`] : []),
      ...(reading.isOpen() ? [`large messages are not delivered: ${reasonOf(reading.lastError())}`] : []),
    ],
  }
}

/** Whether it is about the storage, not about one object. */
function isUnavailable(error: unknown): boolean {
  return !(error instanceof ObjectStoreError) || error.kind === 'unavailable' || error.kind === 'refused'
}

function lengthOf(parts: readonly EncodedPart[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}

function patienceFor(octets: number): number {
  return PATIENCE.request + Math.ceil(octets / 1e6) * PATIENCE.perMegabyte
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function altered(cause?: unknown): DamagedBody {
  return new DamagedBody('the stored body of this message was changed in the object storage', { cause })
}

async function encrypt(
  { id }: ObjectOwner,
  parts: readonly EncodedPart[],
  length: number,
): Promise<{ object: Buffer; keys: Buffer[] }> {
  const object = Buffer.allocUnsafeSlow(length)
  const keys: Buffer[] = []
  let at = 0
  for (const [part, { pieces }] of parts.entries()) {
    const key = randomBytes(KEY_BYTES)
    keys.push(key)
    const cipher = createCipheriv(CIPHER, key, NONCE)
    cipher.setAAD(boundTo(id, part))
    for await (const chunk of inTurns(pieces)) at += cipher.update(chunk).copy(object, at)
    cipher.final()
    at += cipher.getAuthTag().copy(object, at)
  }
  return { object, keys }
}

async function decrypt({ id }: ObjectOwner, parts: readonly ObjectPart[], object: Buffer): Promise<Buffer[]> {
  const contents: Buffer[] = []
  let start = 0
  for (const { part, key, length } of parts) {
    const size = length - TAG_BYTES
    const end = start + size
    const content = size > SHARED ? Buffer.from(new SharedArrayBuffer(size)) : Buffer.allocUnsafe(size)
    try {
      const decipher = createDecipheriv(CIPHER, key, NONCE, { authTagLength: TAG_BYTES })
      decipher.setAAD(boundTo(id, part)).setAuthTag(object.subarray(end, end + TAG_BYTES))
      let at = 0
      for await (const chunk of inTurns([object.subarray(start, end)])) at += decipher.update(chunk).copy(content, at)
      decipher.final()
    } catch (error) {
      throw altered(error)
    }
    contents.push(content)
    start = end + TAG_BYTES
  }
  return contents
}

/** Returns the data that is authenticated with the content: the place where it belongs. */
function boundTo(id: string, part: number): Buffer {
  return Buffer.from(`${id} ${part}`)
}

async function* inTurns(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  let since = 0
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += CHUNK) {
      if (since >= CHUNK) {
        since = 0
        await nextTurn()
      }
      const chunk = piece.subarray(at, at + CHUNK)
      since += chunk.length
      yield chunk
    }
  }
}

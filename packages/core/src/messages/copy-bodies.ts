import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { PartDigest } from '../composition/body.ts'
import type { SqlTransaction } from '../platform/database/database.ts'
import type { StoredMessage } from './stored-message.ts'

/** Signature, flags, header extension length (PostgreSQL documentation, COPY, binary format). */
const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)])
const TRAILER = Buffer.from([0xff, 0xff])
/** Bytes written per turn of the event loop. The kernel would accept several megabytes at once, which took 18 ms. */
const CHUNK = 256 * 1024

/** Streams the body parts of messages into the database by binary COPY in chunks. */
export async function copyBodies(transaction: SqlTransaction, batch: readonly StoredMessage[]): Promise<void> {
  if (batch.length === 0) return
  const copy = await transaction`
    copy bodies (message_id, part, encoding, content, digest, object_length) from stdin (format binary)`.writable()
  const done = finished(copy)
  // It may fail while something else is awaited.
  done.catch(() => {})
  let written = 0
  const write = async (octets: Buffer): Promise<void> => {
    if (!copy.write(octets)) await Promise.race([once(copy, 'drain'), done])
    written += octets.length
    if (written < CHUNK) return
    written = 0
    await Promise.race([nextTurn(), done])
  }
  await write(HEADER)
  for (const { id, parts } of batch) {
    for (const [part, { encoding, pieces, length, objectLength }] of parts.entries()) {
      await write(tupleHead(id, part, encoding, length))
      const digest = new PartDigest(id, part)
      for (const piece of pieces) {
        for (let at = 0; at < piece.length; at += CHUNK) {
          const chunk = piece.subarray(at, at + CHUNK)
          digest.add(chunk)
          await write(chunk)
        }
      }
      await write(tupleTail(digest, objectLength))
    }
  }
  copy.end(TRAILER)
  await done
}

/** Field count, then length and bytes of each field, up to the length of the content. Content and tail are written separately. */
function tupleHead(id: string, part: number, encoding: string, length: number): Buffer {
  const head = Buffer.alloc(2 + 4 + 16 + 4 + 4 + 4 + encoding.length + 4)
  let at = head.writeInt16BE(6, 0)
  at = head.writeInt32BE(16, at)
  at += head.write(id.replaceAll('-', ''), at, 'hex')
  at = head.writeInt32BE(4, at)
  at = head.writeInt32BE(part, at)
  at = head.writeInt32BE(encoding.length, at)
  at += head.write(encoding, at, 'latin1')
  head.writeInt32BE(length, at)
  return head
}

function tupleTail(digest: PartDigest, objectLength: number | undefined): Buffer {
  const tail = Buffer.alloc(4 + 4 + 4 + (objectLength === undefined ? 0 : 4))
  const at = tail.writeInt32BE(digest.value, tail.writeInt32BE(4, 0))
  if (objectLength === undefined) tail.writeInt32BE(-1, at)
  else tail.writeInt32BE(objectLength, tail.writeInt32BE(4, at))
  return tail
}

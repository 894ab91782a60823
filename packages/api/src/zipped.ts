import { type Readable, Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyRequest } from 'fastify'

/** Whether there is no body. */
export function hasNoBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

/** The one content encoding of bodies that is read (RFC 9110 8.4.1.3). */
export function isZipped(request: FastifyRequest): boolean {
  return !hasNoBody(request) && /^(x-)?gzip$/i.test(request.headers['content-encoding'] ?? '')
}

/** How many octets may have come out of a body of which so many have come in. */
export type Bound = (received: number) => number

/** The body unzipped as it comes. It fails with `tooLarge` beyond its bound, so that a small body can't become a huge one. */
export function unzipped(payload: Readable, bound: Bound, tooLarge: () => Error): Readable {
  const gunzip = createGunzip()
  let size = 0
  let received = 0
  payload.on('data', (chunk: Buffer) => {
    received += chunk.length
  })
  // Not by listening to what comes out, which would have it flow before anybody reads it.
  const plain = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (size > bound(received)) done(tooLarge())
      else done(null, chunk)
    },
  })
  payload.once('error', (error) => plain.destroy(error))
  gunzip.once('error', (error) => plain.destroy(error))
  plain.once('error', () => {
    gunzip.destroy()
    // Read to its end all the same: an answer on a connection with unread data is lost when it is closed.
    payload.resume()
  })
  return payload.pipe(gunzip).pipe(plain)
}

/** Tells the framework that the announced length is that of the octets received, and not of what it reads. */
export function measuredBy(received: Readable, read: Readable): Readable {
  let length = 0
  received.on('data', (chunk: Buffer) => {
    length += chunk.length
  })
  return Object.defineProperty(read, 'receivedEncodedLength', { get: () => length })
}

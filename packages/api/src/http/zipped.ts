import { type Readable, Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyRequest } from 'fastify'

/** Returns whether the request has no body. */
export function hasNoBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

/** Returns whether the body is gzip, the only content encoding that is read (RFC 9110 8.4.1.3). */
export function isZipped(request: FastifyRequest): boolean {
  return !hasNoBody(request) && /^(x-)?gzip$/i.test(request.headers['content-encoding'] ?? '')
}

/** Maximum number of uncompressed bytes for a given number of received bytes. */
export type Bound = (received: number) => number

/**
 * Returns the body, decompressed as it arrives. Fails with `tooLarge` beyond its bound, so that a small body cannot expand
 * without limit.
 */
export function unzipped(payload: Readable, bound: Bound, tooLarge: () => Error): Readable {
  const gunzip = createGunzip()
  let size = 0
  let received = 0
  payload.on('data', (chunk: Buffer) => {
    received += chunk.length
  })
  // Not counted by a data listener, which would start the flow before there is a reader.
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
    // Read to the end: a response on a connection with unread data is lost when the connection is closed.
    payload.resume()
  })
  return payload.pipe(gunzip).pipe(plain)
}

/** Makes the framework compare the announced length with the bytes received rather than with the decompressed bytes. */
export function countBytes(received: Readable, read: Readable): Readable {
  let length = 0
  received.on('data', (chunk: Buffer) => {
    length += chunk.length
  })
  return Object.defineProperty(read, 'receivedEncodedLength', { get: () => length })
}

import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { LIMITS, ServiceError } from '@postrider/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { collectBody } from '../collect-body.ts'
import { LARGE_BODY, LargeBody } from '../large-calls/large-body.ts'
import { JsonError, parseStrictJson } from '../strict-json.ts'
import { badRequest, refuse } from './refusal.ts'

/**
 * Octets of a body: a message of the full size whose files are base64, a third longer, and what stands around them. What it
 * comes to is judged when it was read.
 */
export const BODY_LIMIT = Math.ceil((LIMITS.messageSize * 4) / 3) + 1024 * 1024

/** JSON, whatever charset it says it has (contract 1.3). Before anything is read. */
export function requireReadable({ headers }: FastifyRequest): void {
  if (isEmpty(headers)) return
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    throw refuse(415, 'Content-Type should be application/json.')
  }
  const encoding = headers['content-encoding'] ?? 'identity'
  if (!/^(identity|gzip|x-gzip)$/i.test(encoding)) throw refuse(415, 'Content-Encoding should be gzip.')
}

export function isZipped({ headers }: FastifyRequest): boolean {
  return !isEmpty(headers) && /^(x-)?gzip$/i.test(headers['content-encoding'] ?? '')
}

function isEmpty(headers: FastifyRequest['headers']): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

/**
 * The body unzipped as it comes. It ends where more than `BODY_LIMIT` has come out of it, so that a small body can't become a
 * huge one.
 */
export function unzipped(payload: Readable): Readable {
  const plain = createGunzip()
  let size = 0
  plain.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > BODY_LIMIT) plain.destroy(new ServiceError('tooLarge'))
  })
  payload.once('error', (error) => plain.destroy(error))
  // Read to its end all the same: an answer on a connection with unread data is lost when it is closed.
  plain.once('error', () => payload.resume())
  return payload.pipe(plain)
}

/** Tells the framework that the announced length is that of the octets received, and not of what it reads. */
export function measuredBy(received: Readable, read: Readable): Readable {
  let length = 0
  received.on('data', (chunk: Buffer) => {
    length += chunk.length
  })
  return Object.defineProperty(read, 'receivedEncodedLength', { get: () => length })
}

/**
 * Reads JSON. An empty body is undefined, whatever type it says it has: clients say so with every call (contract 1.3).
 * `setAside`: a large one is left to the thread of large calls.
 */
export function readJson(app: FastifyInstance, setAside: boolean): void {
  app.removeAllContentTypeParsers()
  for (const type of ['application/json', '*']) {
    const act = collectBody(BODY_LIMIT, (request, body, done) => {
      request.octets = body
      if (setAside && body.length > LARGE_BODY) return done(null, new LargeBody())
      try {
        done(null, body.length === 0 ? undefined : parsed(body))
      } catch (error) {
        done(error as Error)
      }
    })
    app.addContentTypeParser(type, act)
  }
}

function parsed(body: Buffer): unknown {
  if (!isUtf8(body)) throw refuse(415, 'Invalid UTF8 in request', 'Encoding')
  try {
    return parseStrictJson(body)
  } catch (error) {
    if (error instanceof JsonError) throw badRequest()
    throw error instanceof ServiceError ? error : badRequest()
  }
}

import { isUtf8 } from 'node:buffer'
import { LIMITS, ServiceError } from '@postrider/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { collectBody } from '../collect-body.ts'
import { LARGE_BODY, LargeBody } from '../large-calls/large-body.ts'
import { JsonError, parseStrictJson } from '../strict-json.ts'
import { hasNoBody } from '../zipped.ts'
import { badRequest, refuse } from './refusal.ts'

/**
 * Octets of a body: a message of the full size whose files are base64, a third longer, and what stands around them. What it
 * comes to is judged when it was read.
 */
export const BODY_LIMIT = Math.ceil((LIMITS.messageSize * 4) / 3) + 1024 * 1024

/** JSON, whatever charset it says it has (contract 1.3). Before anything is read. */
export function requireReadable(request: FastifyRequest): void {
  if (hasNoBody(request)) return
  const { headers } = request
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    throw refuse(415, 'Content-Type should be application/json.')
  }
  const encoding = headers['content-encoding'] ?? 'identity'
  if (!/^(identity|gzip|x-gzip)$/i.test(encoding)) throw refuse(415, 'Content-Encoding should be gzip.')
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

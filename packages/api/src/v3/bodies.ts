import { isUtf8 } from 'node:buffer'
import { BeyondShare, LIMITS, ServiceError } from '@postrider/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { collectBody } from '../http/collect-body.ts'
import { LARGE_BODY, LargeBody } from '../http/large-body.ts'
import { JsonError, newCount, parseStrictJson } from '../http/strict-json.ts'
import { hasNoBody } from '../http/zipped.ts'
import { badRequest, refuse } from './refusal.ts'

/**
 * Maximum size of a body in bytes: a message of the maximum size with base64 attachments, which are a third longer, and the JSON
 * around them. The size of the message itself is checked after parsing.
 */
export const BODY_LIMIT = Math.ceil((LIMITS.messageSize * 4) / 3) + 1024 * 1024

/** Requires JSON, with any charset (contract 1.3), before the body is read. */
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
 * Parses JSON bodies. An empty body is undefined whatever its Content-Type, since clients send that header with every call
 * (contract 1.3). `setAside`: large bodies, and those of many values, are left to the thread for large calls.
 */
export function readJson(app: FastifyInstance, setAside: boolean): void {
  app.removeAllContentTypeParsers()
  for (const type of ['application/json', '*']) {
    const act = collectBody(BODY_LIMIT, (request, body, done) => {
      request.octets = body
      if (setAside && body.length > LARGE_BODY) return done(null, new LargeBody())
      try {
        done(null, body.length === 0 ? undefined : parsed(body, setAside))
      } catch (error) {
        done(error as Error)
      }
    })
    app.addContentTypeParser(type, act)
  }
}

function parsed(body: Buffer, isShared: boolean): unknown {
  if (!isUtf8(body)) throw refuse(415, 'Invalid UTF8 in request', 'Encoding')
  try {
    return parseStrictJson(body, newCount(isShared))
  } catch (error) {
    if (error instanceof JsonError) throw badRequest()
    throw error instanceof ServiceError || error instanceof BeyondShare ? error : badRequest()
  }
}

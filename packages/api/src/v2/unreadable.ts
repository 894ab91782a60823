import type { Readable } from 'node:stream'
import { LIMITS, ServiceError } from '@postrider/core'
import type { FastifyRequest } from 'fastify'
import { STREAM_LIMIT, streamTooLarge, tooLarge } from '../body-budget.ts'
import { hasNoBody, isZipped, unzipped } from '../zipped.ts'

/** The body can't be read; `problem` is shown to the client, `reason` is for the log. */
export function unreadable(problem: string, reason = problem): ServiceError {
  return new ServiceError('jsonInvalid', { values: { problem }, reason })
}

/** What the framework and zlib call it when a body can't be read. */
const PROBLEMS: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'body length does not match Content-Length',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'Content-Type is malformed',
  Z_DATA_ERROR: 'body is not gzip, although Content-Encoding says so',
  Z_BUF_ERROR: 'gzip data ends early',
}

/** Undefined: it is something else that failed. */
export function unreadableFor(error: {
  readonly code?: string
  readonly statusCode?: number | undefined
}): ServiceError | undefined {
  const { code = '', statusCode = 0 } = error
  const problem = PROBLEMS[code]
  if (problem !== undefined) return unreadable(problem)
  return statusCode >= 400 && statusCode < 500
    ? new ServiceError('jsonInvalid', { values: { problem: 'body cannot be read' }, reason: code })
    : undefined
}

/**
 * A list is bounded in octets and not in rows, of which a million take 9 s: 39 kB by gzip became 20 million of them. Addresses shrink
 * to a sixth.
 */
const UNPACKED = { least: 256 * 1024, factor: 20 } as const

function mostOfList(received: number): number {
  return Math.min(STREAM_LIMIT, Math.max(UNPACKED.least, received * UNPACKED.factor))
}

function listTooLarge(): ServiceError {
  const { values } = streamTooLarge()
  return new ServiceError('tooLarge', {
    values: { limit: `${values.limit} uncompressed, or ${UNPACKED.factor} times the compressed size` },
  })
}

/**
 * The body as the operation reads it: unzipped where it comes by gzip; undefined where it is that already. Throws jsonInvalid for any
 * other encoding.
 */
export function plainBody(request: FastifyRequest, payload: Readable): Readable | undefined {
  if (isZipped(request)) {
    return request.routeOptions.config.operation?.takes
      ? unzipped(payload, mostOfList, listTooLarge)
      : unzipped(payload, () => LIMITS.messageSize, tooLarge)
  }
  const encoding = request.headers['content-encoding'] ?? ''
  if (!hasNoBody(request) && encoding !== '' && encoding.toLowerCase() !== 'identity') {
    throw unreadable(`the content encoding ${encoding.slice(0, 40)} is not supported, only gzip is`)
  }
  return undefined
}

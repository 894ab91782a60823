import type { Readable } from 'node:stream'
import { LIMITS, ServiceError } from '@postrider/core'
import type { FastifyRequest } from 'fastify'
import { STREAM_LIMIT, streamTooLarge, tooLarge } from '../../http/body-budget.ts'
import { hasNoBody, isZipped, unzipped } from '../../http/zipped.ts'

/** Returns the error for an unreadable body. `problem` is shown to the client, `reason` is for the log. */
export function unreadable(problem: string, reason = problem): ServiceError {
  return new ServiceError('jsonInvalid', { values: { problem }, reason })
}

/** Error codes of the framework and zlib for an unreadable body. */
const PROBLEMS: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'body length does not match Content-Length',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'Content-Type is malformed',
  Z_DATA_ERROR: 'body is not gzip, although Content-Encoding says so',
  Z_BUF_ERROR: 'gzip data ends early',
}

/** Returns undefined for any other failure. */
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
 * A list is limited in bytes rather than rows: a million rows take 9 s, and 39 kB of gzip became 20 million rows. Addresses
 * compress to about a sixth.
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
 * Returns the decompressed body if it is gzip, or undefined if it is not compressed. Throws jsonInvalid for any other encoding.
 */
export function plainBody(request: FastifyRequest, payload: Readable): Readable | undefined {
  if (isZipped(request)) {
    const { takes, takesMany = LIMITS.messageSize } = request.routeOptions.config.operation ?? {}
    return takes
      ? unzipped(payload, mostOfList, listTooLarge)
      : unzipped(
          payload,
          () => takesMany,
          () => tooLarge(takesMany),
        )
  }
  const encoding = request.headers['content-encoding'] ?? ''
  if (!hasNoBody(request) && encoding !== '' && encoding.toLowerCase() !== 'identity') {
    throw unreadable(`content encoding ${encoding.slice(0, 40)} is not supported; use gzip`)
  }
  return undefined
}

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { acceptedEncoding } from '@postrider/ui'
import type { FastifyReply, FastifyRequest } from 'fastify'

const gzipped = promisify(gzip)
/** Less is not worth it, and more keeps a thread of the pool busy. */
const MIN_BYTES = 1024
const MAX_BYTES = 8 * 1024 * 1024
/**
 * Answers with one message. Those with several (lists, searches, pages, which have a list next to the message) are not compressed: the compressed length shows
 * whether a text that a stranger chose, in a search or in a message, occurs in the other messages of the answer (BREACH).
 */
const OF_ONE_MESSAGE = [
  /^\/messages\/[0-9a-f]+(?:\/html)?$/,
  /^\/view\/[0-9a-z]+\.(?:html|txt)$/,
  /^\/view\/[0-9a-f]+\/html$/,
  /^\/api\/v1\/message\/[0-9a-z]+(?:\/(?:headers|html-check))?$/,
]

/** Compresses what is worth it, in another thread. */
export async function compressed(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  const path = request.url.split('?', 1)[0] ?? ''
  if (!OF_ONE_MESSAGE.some((one) => one.test(path)) || request.url.includes('query=')) return payload
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
  reply.header('vary', 'accept-encoding')
  const length = Buffer.byteLength(payload)
  // Fast for all clients, of which some know no Brotli.
  const isAccepted = acceptedEncoding(request.headers['accept-encoding']?.toString().replace(/\bbr\b/g, '')) === 'gzip'
  if (!isAccepted || length < MIN_BYTES || length > MAX_BYTES || reply.hasHeader('content-encoding')) return payload
  const octets = await gzipped(payload, { level: 5 })
  reply.headers({ 'content-encoding': 'gzip', 'content-length': octets.length })
  return octets
}

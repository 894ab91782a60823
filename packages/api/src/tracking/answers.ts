import { SLIM_HEADERS } from '@postrider/ui'
import type { FastifyReply } from 'fastify'

/** A transparent GIF of one pixel. */
export const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

/**
 * Headers of every response to a recipient. Nothing is cached, so that each open is seen and no cache stores who read what. No
 * referrer is sent to the linked site. Content sniffing, framing and indexing are disabled.
 */
export const HEADERS = {
  'cache-control': 'no-store, no-cache, must-revalidate, private, max-age=0',
  pragma: 'no-cache',
  expires: '0',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
} as const

/** Sends a short plain text that is the same for every request. */
export function sendWord(reply: FastifyReply, status: number, word: string): FastifyReply {
  return reply.code(status).type('text/plain; charset=utf-8').send(`${word}\n`)
}

/** Sends a whole page (slimDocument). */
export function sendPage(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply.code(status).headers(SLIM_HEADERS).type('text/html; charset=utf-8').send(page)
}

/**
 * Returns the value of the Location header: the sealed URL with the characters not allowed in a header percent-encoded (RFC 3986
 * 2.1). Returns undefined if a browser should not be redirected to it.
 */
export function locationOf(url: string): string | undefined {
  if (!/^https?:\/\/[^/\\?#]/i.test(url) || !URL.canParse(url)) return undefined
  return url.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}

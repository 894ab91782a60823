import { createHash } from 'node:crypto'
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

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;margin:4rem auto;max-width:32rem;padding:0 1rem;color:#222;background:#fff}' +
  'button{font:inherit;padding:.5rem 1rem}'

const PAGE_POLICY =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; ` +
  "frame-ancestors 'none'; base-uri 'none'"

/** Sends a short plain text that is the same for every request. */
export function sendWord(reply: FastifyReply, status: number, word: string): FastifyReply {
  return reply.code(status).type('text/plain; charset=utf-8').send(`${word}\n`)
}

/** Sends an HTML page. The caller must escape `title` and `body`. */
export function sendPage(reply: FastifyReply, status: number, title: string, body: string): FastifyReply {
  return reply
    .code(status)
    .header('content-security-policy', PAGE_POLICY)
    .header('x-frame-options', 'DENY')
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
        `<title>${title}</title><style>${STYLE}</style><body><h1>${title}</h1>${body}</body></html>`,
    )
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}

/**
 * Returns the value of the Location header: the sealed URL with the characters not allowed in a header percent-encoded (RFC 3986
 * 2.1). Returns undefined if a browser should not be redirected to it.
 */
export function locationOf(url: string): string | undefined {
  if (!/^https?:\/\/[^/\\?#]/i.test(url) || !URL.canParse(url)) return undefined
  return url.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}

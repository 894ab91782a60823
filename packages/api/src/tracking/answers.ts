import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'

/** One transparent pixel. */
export const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

/**
 * What goes with every answer to a reader: nothing is cached, so that each opening is seen and no cache keeps who read what;
 * nothing is told to where he goes next; nothing is guessed, framed or indexed.
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

/** A word of plain text, the same for everybody. */
export function sendWord(reply: FastifyReply, status: number, word: string): FastifyReply {
  return reply.code(status).type('text/plain; charset=utf-8').send(`${word}\n`)
}

/** A page of our own; what stands in it is escaped by whoever wrote it. */
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
 * The value of Location: what was sealed, with what no header can hold percent-encoded (RFC 3986 2.1). Undefined: it leads
 * nowhere a browser should be sent to.
 */
export function locationOf(url: string): string | undefined {
  if (!/^https?:\/\/[^/\\?#]/i.test(url) || !URL.canParse(url)) return undefined
  return url.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}

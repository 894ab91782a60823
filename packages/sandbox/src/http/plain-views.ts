import type { FastifyReply } from 'fastify'
import type { MailpitOptions } from '../mailpit/routes.ts'
import { BadTerm } from '../search/read-search.ts'
import { orNothing, type PageRequest, text } from './page-kit.ts'

/**
 * Policy for a message's HTML as a mail program shows it: images load and links open, also in a new window. No script runs, and the page
 * has no origin, so it cannot read this one's data.
 */
export const MAIL_PROGRAM_POLICY =
  "default-src 'none'; img-src http: https: data:; media-src http: https: data:; font-src http: https: data:; " +
  "style-src 'unsafe-inline' http: https:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; " +
  'sandbox allow-popups allow-popups-to-escape-sandbox'

/** Sends a message's HTML or text alone, as Mailpit's `/view/ID.html` and `/view/latest.txt`. */
export async function sendPlain(
  { inbox, reader, finder }: MailpitOptions,
  { query }: PageRequest,
  reply: FastifyReply,
  { id, kind }: { readonly id: string; readonly kind: 'html' | 'text' },
): Promise<unknown> {
  const entry = id === 'latest' ? await latest() : inbox.find(id)
  const octets = entry && (await orNothing(reader.show({ form: kind, entry, file: inbox.fileOf(entry) })))
  if (!octets) return reply.code(404).type('text/plain; charset=utf-8').send('404 page not found')
  reply.headers({ 'content-security-policy': MAIL_PROGRAM_POLICY, 'referrer-policy': 'no-referrer' })
  return reply.type(kind === 'html' ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8').send(octets)

  async function latest() {
    try {
      return (await finder.find(text(query.query))).rows[0]?.entries[0]
    } catch (error) {
      if (error instanceof BadTerm) return undefined
      throw error
    }
  }
}

import { type Asset, acceptedEncoding, compress, type Html, render } from '@postrider/ui'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { PAGE_HEADERS } from './policy.ts'

/** Below this, compression saves no packet. */
const WORTH_COMPRESSING = 1200

/** Sends a page, compressed unless that could tell its content. */
export type SendHtml = (
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  document: Html,
) => Promise<FastifyReply>

/** `publicPath`: see `render`. */
export function createSendHtml(publicPath: string): SendHtml {
  return async (request, reply, status, document) => {
    const plain = Buffer.from(await render(document, publicPath))
    const encoding =
      plain.length < WORTH_COMPRESSING || isChosenElsewhere(request)
        ? undefined
        : acceptedEncoding(request.headers['accept-encoding'])
    reply.code(status).headers(PAGE_HEADERS).type('text/html; charset=utf-8')
    if (encoding === undefined) return reply.send(plain)
    return reply.header('content-encoding', encoding).send(await compress(plain, encoding, 'once'))
  }
}

/**
 * Whether another site may have chosen the request. The compressed length of a page shows to one who sees the packets whether a text of the request
 * occurs in it (BREACH), so that address lists could be guessed letter by letter. Browsers say who asks (Fetch Metadata); a page that another site
 * opened asks for itself again, with the same query.
 */
function isChosenElsewhere({ url, headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'] ?? 'none'
  return url.includes('?') || (site !== 'same-origin' && site !== 'none')
}

/** Sends a file that pages load. Its URL changes with its content. */
export async function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): Promise<FastifyReply> {
  const encoding = acceptedEncoding(request.headers['accept-encoding'])
  reply
    .type(asset.type)
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('x-content-type-options', 'nosniff')
    .header('vary', 'accept-encoding')
  if (encoding === undefined) return reply.send(asset.plain)
  return reply.header('content-encoding', encoding).send(await asset.encoded(encoding))
}

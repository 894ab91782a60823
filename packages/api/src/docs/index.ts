import { createHash } from 'node:crypto'
import type { DocsReader } from '@postrider/dashboard'
import { acceptedEncoding, createEncoder, type Encoding, PAGE_HEADERS, type Sent } from '@postrider/ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { PublicPlace, Site } from './site.ts'

/** Pages that are kept after the first request, by the size of their HTML; compressed forms add about a half. */
const MAX_KEPT_OCTETS = 4 * 1024 * 1024
/** Below this, compression saves no packet. */
const WORTH_COMPRESSING = 1200

/** Pages are the same for every visitor; browsers ask each time whether they have changed. */
const HEADERS = { ...PAGE_HEADERS, 'cache-control': 'no-cache' }

const VARYING = { ...HEADERS, vary: 'accept-encoding, cookie' }
const PRIVATE = { ...VARYING, 'cache-control': 'private, no-cache' }

interface Built {
  readonly plain: Buffer
  readonly etag: string
  readonly encoded: (encoding: Encoding) => Promise<Buffer>
}

export interface DocsOptions extends PublicPlace {
  /** Returns the reader of the request; undefined without a session. */
  readonly readerOf: (request: FastifyRequest) => Promise<DocsReader | undefined>
}

/** The domain of examples. For a reader who has an active one, it is theirs, so that examples work when they are pasted. */
const EXAMPLE_DOMAIN = 'ship.example'

/**
 * Serves the documentation: /docs, guides, every operation and search. Nothing is read before the first request, and a page is kept after it
 * was built once.
 */
export async function docs(app: FastifyInstance, { readerOf, ...place }: DocsOptions): Promise<void> {
  let opened: Promise<Site> | undefined
  const site = () => {
    opened ??= import('./site.ts').then(({ openSite }) => openSite(place))
    return opened
  }
  const kept = new Map<string, Promise<Built | undefined>>()
  let octets = 0

  function pageAt(path: string): Promise<Built | undefined> {
    const known = kept.get(path)
    if (known) return known
    const building = site().then(async (own) => {
      const document = await own.page(path)
      return document === undefined ? undefined : built(document, 'often')
    })
    kept.set(path, building)
    const forget = () => kept.delete(path)
    building.then((page) => (page ? keep(page) : forget()), forget)
    return building
  }

  /** Starts over when there are too many: all pages together have some 5 MB, of which visitors ask for a part. */
  function keep({ plain }: Built): void {
    octets += plain.length
    if (octets <= MAX_KEPT_OCTETS) return
    kept.clear()
    octets = 0
  }

  const options = { schema: { hide: true } }
  /** A page for this reader is made for them alone. */
  async function sendTo(request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> {
    const reader = await readerOf(request)
    if (reader && path === '/docs') return send(request, reply, 200, built(await (await site()).start(reader)), PRIVATE)
    const page = await pageAt(path)
    if (!page) return send(request, reply, 404, built(await (await site()).missing()))
    if (reader?.domain === undefined) return send(request, reply, 200, page, VARYING)
    const text = page.plain.toString().replaceAll(EXAMPLE_DOMAIN, reader.domain)
    return send(request, reply, 200, built(text), PRIVATE)
  }
  app.get('/docs', options, async (request, reply) => sendTo(request, reply, '/docs'))
  const sendText = async (request: FastifyRequest, reply: FastifyReply, path: string) => {
    const text = (await site()).markdown(path)
    if (text === undefined) return send(request, reply, 404, built(await (await site()).missing()))
    const type = path === '/llms.txt' ? 'text/plain' : 'text/markdown'
    return reply
      .headers({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-cache' })
      .type(`${type}; charset=utf-8`)
      .send(text)
  }
  app.get('/llms.txt', options, async (request, reply) => sendText(request, reply, '/llms.txt'))
  app.get('/docs.md', options, async (request, reply) => sendText(request, reply, '/docs'))
  app.get<{ Querystring: { q?: unknown } }>('/docs/search', options, async (request, reply) => {
    const { q } = request.query
    return send(request, reply, 200, built(await (await site()).search(typeof q === 'string' ? q.trim() : '')))
  })
  app.get<{ Params: { name: string } }>('/docs/images/:name', options, async (request, reply) => {
    const { readImage } = await import('./guides.ts')
    const image = await readImage(request.params.name)
    if (!image) return send(request, reply, 404, built(await (await site()).missing()))
    return reply
      .headers({ ...PAGE_HEADERS, 'cache-control': 'max-age=3600' })
      .type(image.type)
      .send(image.content)
  })
  app.get<{ Params: { '*': string } }>('/docs/*', options, async (request, reply) => {
    const path = `/docs/${request.params['*']}`
    if (path.endsWith('.md')) return sendText(request, reply, path.slice(0, -'.md'.length))
    return sendTo(request, reply, path.endsWith('/') ? path.slice(0, -1) : path)
  })
}

function built(document: string, sent: Sent = 'once'): Built {
  const plain = Buffer.from(document)
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 16)}"`
  return { plain, etag: `W/${etag}`, encoded: createEncoder(plain, sent) }
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  page: Built,
  headers: Readonly<Record<string, string>> = HEADERS,
): Promise<FastifyReply> {
  reply.code(status).headers(headers).header('etag', page.etag)
  if (status === 200 && request.headers['if-none-match'] === page.etag) return reply.code(304).send()
  reply.type('text/html; charset=utf-8')
  const accepted = acceptedEncoding(request.headers['accept-encoding'])
  if (accepted === undefined || page.plain.length < WORTH_COMPRESSING) return reply.send(page.plain)
  return reply.header('content-encoding', accepted).send(await page.encoded(accepted))
}

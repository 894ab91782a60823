import {
  contentHeaders,
  html,
  isFromHere,
  LANGUAGES,
  type Language,
  loadAssets,
  PAGE_HEADERS,
  preferredLanguage,
  render,
} from '@postrider/ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Inbox } from '../inbox.ts'
import type { InboxEntry } from '../inbox-entry.ts'
import { type Document, inboxDocument } from '../page/document.ts'
import { historyUrl } from '../page/history.ts'
import { listPart, noMessagePart } from '../page/list-part.ts'
import { notShownPart } from '../page/message-head.ts'
import { pageWords } from '../page/page-words.ts'
import { rejectedPart } from '../page/rejected-part.ts'
import { type MessageReader, NotShown } from '../reading/message-reader.ts'
import { TABS } from '../reading/part-order.ts'
import type { Rejections } from '../smtp/rejections.ts'
import type { Digests } from './digests.ts'
import { openLive } from './live.ts'
import { matches, readSearch } from './search.ts'
import type { Watchers } from './watchers.ts'

export interface PagesOptions {
  readonly inbox: Inbox
  readonly reader: MessageReader
  readonly digests: Digests
  readonly rejections: Rejections
  readonly watchers: Watchers
  readonly publicUrl: string
  readonly dnsServers: readonly string[]
}

/** Messages per page of the list. */
const PAGE_LENGTH = 50
/** Milliseconds that a page waits for senders and previews, and a search for those of all messages. */
const LIST_MS = 400
const SEARCH_MS = 2000
/** Stands for the part that a thread writes. Text of messages cannot contain it, because it is escaped. */
const MARK = '<!--message-->'
/** Types that a message's HTML may show as images; all others are only saved. */
const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

type Query = Readonly<Record<string, unknown>>
type Request = FastifyRequest<{ Params: { id: string; number: string }; Querystring: Query }>

/** The inbox as pages for a browser. */
export async function addPages(app: FastifyInstance, options: PagesOptions): Promise<void> {
  const { inbox, reader, digests, rejections, watchers, publicUrl } = options
  const assets = await loadAssets('/-')

  // Fields of forms are not needed: the path says what is deleted.
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer', bodyLimit: 1024 },
    (_r, _b, done) => done(null, undefined),
  )
  app.get<{ Params: { part: string } }>('/-/:part', async (request, reply) => {
    const asset = assets.find(request.params.part)
    if (!asset) return reply.callNotFound()
    return reply.type(asset.type).header('cache-control', 'public, max-age=31536000, immutable').send(asset.plain)
  })
  openLive(app, watchers)

  app.get('/', async (request, reply) => {
    const language = languageOf(request)
    const body = html`<div class="two">${await list(request as Request)}${noMessagePart(language)}</div>`
    return send(reply, pageWords(language).inbox, body)
  })
  app.get('/view/:id', async (request, reply) => showView(request as Request, reply))
  app.get('/view/:id/html', async (request, reply) => showPreview(request as Request, reply))
  app.get('/view/:id/attachments/:number', async (request, reply) => sendAttachment(request as Request, reply))
  app.get('/rejected', async (request, reply) => {
    const language = languageOf(request)
    const now = new Date()
    const body = rejectedPart({ assets, language, now, publicUrl, rejections: rejections.list() })
    return send(reply, pageWords(language).rejectedTitle, body, 'rejected')
  })
  app.post<{ Params: { id: string }; Querystring: Query }>('/view/:id/delete', async (request, reply) => {
    if (!isFromHere(request, 'http:')) return forbidden(reply)
    if (!inbox.delete(request.params.id)) return notFound(reply)
    return reply.redirect(`/${listQuery(request.query)}`, 303)
  })
  app.post('/delete-all', async (request, reply) => {
    if (!isFromHere(request, 'http:')) return forbidden(reply)
    inbox.clear()
    return reply.redirect('/', 303)
  })

  async function send(reply: FastifyReply, title: string, body: Document['body'], at: Document['at'] = 'inbox') {
    const language = languageOf(reply.request)
    const document = inboxDocument({ assets, language, publicUrl, title, at, body, now: new Date() })
    return reply
      .headers(PAGE_HEADERS)
      .type('text/html; charset=utf-8')
      .send(await render(document))
  }

  async function list(request: Request) {
    const { query, params } = request
    const q = text(query.q).slice(0, 200)
    const before = text(query.before)
    const newestFirst = inbox.list().toReversed()
    const search = readSearch(q)
    if (search.length > 0) await digests.read(newestFirst, SEARCH_MS)
    const found = search.length === 0 ? newestFirst : newestFirst.filter((one) => matches(search, one, digests.of(one)))
    const start = before === '' ? 0 : found.findIndex(({ id }) => id < before)
    const shown = start === -1 ? [] : found.slice(start, start + PAGE_LENGTH)
    if (search.length === 0) await digests.read(shown, LIST_MS)
    const more = start !== -1 && start + PAGE_LENGTH < found.length
    return listPart({
      assets,
      language: languageOf(request),
      now: new Date(),
      messages: shown.map((entry) => ({ entry, digest: digests.of(entry) })),
      total: found.length,
      before: Math.max(0, start),
      q,
      isReading: search.length > 0 && newestFirst.some((one) => !digests.of(one)),
      selected: params.id,
      query: queryOf({ q, before }),
      older: more ? queryOf({ q, before: shown.at(-1)?.id ?? '' }) : undefined,
    })
  }

  async function showView(request: Request, reply: FastifyReply): Promise<unknown> {
    const entry = inbox.find(request.params.id)
    if (!entry) return notFound(reply)
    // A page that follows the inbox needs only the list: the message does not change.
    const isRefresh = request.headers['hx-request'] === 'true'
    const part = isRefresh ? Buffer.alloc(0) : await partOf(entry, request, reply)
    if (!part) return notFound(reply)
    const language = languageOf(request)
    const words = pageWords(language)
    const title = entry.subject || words.noSubject
    const body = html`<div class="two open">${await list(request)}<section class="read" aria-label="${words.message}" tabindex="0">${MARKED}</section></div>`
    const document = inboxDocument({ assets, language, publicUrl, title, at: 'inbox', body, now: new Date() })
    const [head = '', tail = ''] = (await render(document)).split(MARK)
    return reply
      .headers(PAGE_HEADERS)
      .type('text/html; charset=utf-8')
      .send(Buffer.concat([Buffer.from(head), part, Buffer.from(tail)]))
  }

  /** Undefined if the message's file does not exist. */
  async function partOf(entry: InboxEntry, request: Request, reply: FastifyReply): Promise<Buffer | undefined> {
    const { query } = request
    const head = {
      entry,
      language: languageOf(request),
      icons: assets.url('icons.svg'),
      query: listQuery(query),
      history: historyUrl(publicUrl, entry.from),
    }
    try {
      return await reader.show({
        form: 'part',
        file: inbox.fileOf(entry),
        tab: TABS.find((tab) => tab === query.part),
        isPhone: query.width === 'phone',
        hasImages: query.images === '1',
        dnsServers: options.dnsServers,
        ...head,
      })
    } catch (error) {
      if (!(error instanceof NotShown)) throw error
      if (error.why === 'busy') reply.code(503)
      return Buffer.from(await render(notShownPart(head, error.why)))
    }
  }

  async function showPreview({ params, query }: Request, reply: FastifyReply): Promise<unknown> {
    const entry = inbox.find(params.id)
    const images = query.images === '1'
    reply.headers({ ...contentHeaders(images), 'content-security-policy': previewPolicy(images) })
    const octets = entry && (await orNothing(reader.show({ form: 'preview', entry, file: inbox.fileOf(entry) })))
    return octets ? reply.type('text/html; charset=utf-8').send(octets) : notFound(reply)
  }

  async function sendAttachment({ params }: Request, reply: FastifyReply): Promise<unknown> {
    const entry = inbox.find(params.id)
    const number = /^\d{1,5}$/.test(params.number) ? Number(params.number) : undefined
    if (!entry || number === undefined) return notFound(reply)
    const found = await orNothing(reader.attachment({ form: 'attachment', file: inbox.fileOf(entry), number }))
    if (!found) return notFound(reply)
    const { content, contentType, fileName } = found
    const name = encodeURIComponent((fileName ?? `attachment-${number}`).slice(0, 200).toWellFormed())
    return reply
      .type(IMAGES.has(contentType) ? contentType : 'application/octet-stream')
      .header('content-security-policy', "default-src 'none'; sandbox")
      .header('content-disposition', `attachment; filename*=UTF-8''${name.replaceAll("'", '%27')}`)
      .send(Buffer.from(content.buffer, content.byteOffset, content.length))
  }

  async function notFound(reply: FastifyReply): Promise<unknown> {
    reply.code(404)
    const words = pageWords(languageOf(reply.request))
    const link = html`<a class="btn" href="/">${words.showAll}</a>`
    return send(
      reply,
      words.notFoundTitle,
      html`<div class="page"><section class="box void"><h1 class="h2">${words.notFound}</h1><p>${words.notFoundText}</p><div class="row">${link}</div>
        </section></div>`,
    )
  }
}

/** The language that Accept-Language prefers, else English. */
function languageOf({ headers }: FastifyRequest): Language {
  return preferredLanguage(headers['accept-language'], LANGUAGES)
}

/** The mark, as a piece of HTML. */
const MARKED = html`<!--message-->`

/** As for previews in the dashboard; images of the message itself are at this host. */
function previewPolicy(images: boolean): string {
  return contentHeaders(images)['content-security-policy']?.replace('img-src', "img-src 'self'") ?? ''
}

function forbidden(reply: FastifyReply): unknown {
  return reply
    .code(403)
    .send({ error: 'messages can be deleted only from a page of the inbox itself, or with DELETE /messages' })
}

async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (error instanceof NotShown) return undefined
    throw error
  })
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The query of the list that a page was reached from: its search, and where it begins. */
function listQuery({ q, before }: Query): string {
  return queryOf({ q: text(q).slice(0, 200), before: text(before) })
}

function queryOf(fields: Readonly<Record<string, string>>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}

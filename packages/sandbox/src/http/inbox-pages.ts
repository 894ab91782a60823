import { acceptedEncoding, contentHeaders, html, loadAssets, PAGE_HEADERS, render } from '@postrider/ui'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { InboxEntry } from '../inbox-entry.ts'
import { type Document, inboxDocument } from '../page/document.ts'
import { listPart, noMessagePart } from '../page/list-part.ts'
import { notShownPart } from '../page/message-head.ts'
import { pageWords } from '../page/page-words.ts'
import { rejectedPart } from '../page/rejected-part.ts'
import type { JudgedLink } from '../reading/judged-link.ts'
import { NotShown } from '../reading/message-reader.ts'
import { TABS, WIDTHS } from '../reading/part-order.ts'
import { historyUrl } from '../reading/return-path.ts'
import { startAfter } from '../reading/start-after.ts'
import type { Found } from '../search/finder.ts'
import { BadTerm } from '../search/read-search.ts'
import { openLive } from './live.ts'
import { addForms } from './page-forms.ts'
import { languageOf, listQuery, orNothing, type PageRequest, queryOf, searchOf, text } from './page-kit.ts'
import type { PagesOptions } from './pages-options.ts'
import { sendPlain } from './plain-views.ts'

/** Messages per page of the list. */
const PAGE_LENGTH = 50
/** Milliseconds that a page waits for previews, and a search for those of all messages. */
const LIST_MS = 400
const SEARCH_MS = 2000
/** Copies of a message whose recipients its page names. */
const MAX_COPIES = 20
/** Stands for the part that a thread writes. Text of messages cannot contain it, because it is escaped. */
const MARK = '<!--message-->'
/** Types that a message's HTML may show as images; all others are only saved. */
const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** The inbox as pages for a browser. */
export async function addPages(app: FastifyInstance, options: PagesOptions): Promise<void> {
  const { inbox, reader, finder, rejections, watchers, publicUrl, judge, requests, releases, outcomes } = options
  const assets = await loadAssets('/-')
  const isOpen = requests.isAllowed || releases.settings !== undefined

  app.get<{ Params: { part: string } }>('/-/:part', async (request, reply) => {
    const asset = assets.find(request.params.part)
    if (!asset) return reply.callNotFound()
    const encoding = acceptedEncoding(request.headers['accept-encoding'])
    if (encoding) reply.header('content-encoding', encoding)
    return reply
      .type(asset.type)
      .headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' })
      .send(encoding ? await asset.encoded(encoding) : asset.plain)
  })
  openLive(app, watchers)
  addForms(app, options, notFound)

  app.get('/', async (request, reply) => {
    const language = languageOf(request)
    const body = html`<div class="two">${await list(request as PageRequest)}${noMessagePart(language)}</div>`
    return send(reply, pageWords(language).inbox, body)
  })
  app.get('/view/:id', async (request, reply) => showView(request as PageRequest, reply))
  app.get('/view/:id/html', async (request, reply) => showPreview(request as PageRequest, reply))
  app.get('/view/:id/attachments/:number', async (request, reply) => sendAttachment(request as PageRequest, reply))
  app.get('/rejected', async (request, reply) => {
    const language = languageOf(request)
    const { query } = request as PageRequest
    const q = searchOf(query)
    const found = rejections.find({ q, before: text(query.before), limit: PAGE_LENGTH })
    const body = rejectedPart({ assets, language, now: new Date(), publicUrl, q, ...found })
    return send(reply, pageWords(language).rejectedTitle, body, 'rejected')
  })

  async function send(reply: FastifyReply, title: string, body: Document['body'], at: Document['at'] = 'inbox') {
    const language = languageOf(reply.request)
    const document = inboxDocument({ assets, language, publicUrl, title, at, body, now: new Date(), isOpen })
    return reply
      .headers(PAGE_HEADERS)
      .type('text/html; charset=utf-8')
      .send(await render(document))
  }

  async function list(request: PageRequest) {
    const { query, params } = request
    const q = searchOf(query)
    const before = text(query.before)
    const { rows: found, isReading, problem } = await search(q)
    const ids = found.map(({ entries: [{ id }] }) => id)
    const start = startAfter(ids, before)
    const shown = found.slice(start, start + PAGE_LENGTH)
    await finder.read(shown, LIST_MS)
    const more = start + PAGE_LENGTH < found.length
    const { marks } = inbox
    return listPart({
      assets,
      language: languageOf(request),
      now: new Date(),
      messages: shown.map((row) => ({
        row,
        digest: finder.digestOf(row),
        isRead: marks.isRead(row.message),
        tags: marks.tagsOf(row.message),
      })),
      total: found.length,
      before: start,
      q,
      problem,
      isReading,
      selected: inbox.rowOf(params.id ?? '')?.message,
      query: queryOf({ q, before }),
      older: more ? queryOf({ q, before: shown.at(-1)?.entries[0].id ?? '' }) : undefined,
    })
  }

  async function search(q: string): Promise<Found & { readonly problem: string | undefined }> {
    try {
      return { ...(await finder.find(q, 'UTC', SEARCH_MS)), problem: undefined }
    } catch (error) {
      if (!(error instanceof BadTerm)) throw error
      return { rows: [], isReading: false, problem: error.term }
    }
  }

  async function showView(request: PageRequest, reply: FastifyReply): Promise<unknown> {
    const plain = /^([0-9a-z]{1,32})\.(html|txt)$/.exec(request.params.id)
    if (plain)
      return sendPlain(options, request, reply, { id: plain[1] ?? '', kind: plain[2] === 'html' ? 'html' : 'text' })
    const entry = inbox.find(request.params.id)
    const row = inbox.rowOf(request.params.id)
    if (!entry || !row) return notFound(reply)
    // A page that follows the inbox needs only the list: the message does not change.
    const isRefresh = request.headers['hx-request'] === 'true'
    if (!isRefresh) inbox.setRead([row], true)
    const part = isRefresh ? Buffer.alloc(0) : await partOf(entry, request, reply)
    if (!part) return notFound(reply)
    const language = languageOf(request)
    const words = pageWords(language)
    const title = entry.subject || words.noSubject
    const body = html`<div class="two open">${await list(request)}<section class="read" aria-label="${words.message}" tabindex="0">${MARKED}</section></div>`
    const document = inboxDocument({ assets, language, publicUrl, title, at: 'inbox', body, now: new Date(), isOpen })
    const [head = '', tail = ''] = (await render(document)).split(MARK)
    return reply
      .headers(PAGE_HEADERS)
      .type('text/html; charset=utf-8')
      .send(Buffer.concat([Buffer.from(head), part, Buffer.from(tail)]))
  }

  /** Undefined if the message's file does not exist. */
  async function partOf(entry: InboxEntry, request: PageRequest, reply: FastifyReply): Promise<Buffer | undefined> {
    const { query } = request
    const tab = TABS.find((tab) => tab === query.part)
    const copies = inbox.rowOf(entry.id)?.entries ?? [entry]
    const head = {
      entry,
      language: languageOf(request),
      icons: assets.url('icons.svg'),
      query: listQuery(query),
      history: historyUrl(publicUrl, entry.from),
      copies: copies.slice(0, MAX_COPIES).map(({ id, to }) => ({ id, to })),
      moreCopies: Math.max(0, copies.length - MAX_COPIES),
      tags: inbox.marks.tagsOf(entry.message),
      releasesTo: releases.settings?.recipients.join(', '),
      notice: outcomes.takeNotice(entry.id),
    }
    try {
      return await reader.show({
        form: 'part',
        file: inbox.fileOf(entry),
        tab,
        width: WIDTHS.find((width) => width === query.width) ?? 'desktop',
        hasImages: query.images === '1',
        dnsServers: options.dnsServers,
        canRequest: requests.isAllowed,
        links: tab === 'links' || tab === 'checks' ? await judgedLinks(entry) : [],
        ...head,
      })
    } catch (error) {
      if (!(error instanceof NotShown)) throw error
      if (error.why === 'busy') reply.code(503)
      return Buffer.from(await render(notShownPart(head, error.why)))
    }
  }

  /** Where links of the message lead, which only the process with the service's keys can tell. */
  async function judgedLinks(entry: InboxEntry): Promise<readonly JudgedLink[]> {
    const found = await reader.links(entry, inbox.fileOf(entry))
    const { statuses } = outcomes.of(entry.id)
    return (found?.links ?? []).map((link) => judge.judge(link, statuses))
  }

  async function showPreview({ params, query }: PageRequest, reply: FastifyReply): Promise<unknown> {
    const entry = inbox.find(params.id)
    const images = query.images === '1'
    reply.headers({ ...contentHeaders(images), 'content-security-policy': previewPolicy(images) })
    const octets = entry && (await orNothing(reader.show({ form: 'html', entry, file: inbox.fileOf(entry) })))
    return octets ? reply.type('text/html; charset=utf-8').send(octets) : notFound(reply)
  }

  async function sendAttachment({ params }: PageRequest, reply: FastifyReply): Promise<unknown> {
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

/** The mark, as a piece of HTML. */
const MARKED = html`<!--message-->`

/** As for previews in the dashboard; images of the message itself are at this host. */
function previewPolicy(images: boolean): string {
  return contentHeaders(images)['content-security-policy']?.replace('img-src', "img-src 'self'") ?? ''
}

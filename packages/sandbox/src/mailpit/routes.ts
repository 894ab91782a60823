import { programBuild } from '@postrider/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Inbox } from '../inbox.ts'
import { type InboxEntry, type Row, recipientsOf } from '../inbox-entry.ts'
import type { LinkJudge } from '../outgoing/link-judge.ts'
import type { LinkRequests } from '../outgoing/link-requests.ts'
import type { Releases } from '../outgoing/release.ts'
import type { MessageLinks } from '../reading/judged-link.ts'
import type { Form } from '../reading/message-orders.ts'
import { type MessageReader, NotShown } from '../reading/message-reader.ts'
import type { Finder } from '../search/finder.ts'
import type { Rejections } from '../smtp/rejections.ts'
import {
  BadRequest,
  bodyOf,
  fieldsOf,
  handleErrors,
  numberOf,
  readJsonBodies,
  refuseOtherSites,
  refuseOtherSitesAlways,
  sendError,
  textOf,
  textsOf,
} from './request-body.ts'
import { storeSent } from './send.ts'
import { infoOf, webUiOf } from './settings.ts'
import { summaryOf } from './summary.ts'

export interface MailpitOptions {
  readonly inbox: Inbox
  readonly reader: MessageReader
  readonly finder: Finder
  readonly rejections: Rejections
  readonly judge: LinkJudge
  readonly requests: LinkRequests
  readonly releases: Releases
}

type Request = FastifyRequest<{
  Params: { id: string; part: string; tag: string }
  Querystring: Readonly<Record<string, unknown>>
}>

/** Messages of one answer: all that the inbox keeps, since suites that ask for all of them exist. */
const MAX_LISTED = 10_000
/** Milliseconds that an answer waits for what is not read yet of its messages. */
const READ_MS = 5000
const DELETE_MS = 15_000
/** Types that a browser would run or parse; they are only saved. */
const ACTIVE = /html|xml|xsl|script/i
const CONTENT_TYPE = /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/i

/** The paths of Mailpit's API, answered alike: what was written for that works with this inbox's URL. */
export async function mailpitRoutes(app: FastifyInstance, options: MailpitOptions): Promise<void> {
  const { inbox, finder, reader, rejections, judge, requests, releases } = options
  const { marks } = inbox
  readJsonBodies(app)
  handleErrors(app)
  app.addHook('onRequest', refuseOtherSites)

  app.get('/messages', async (request: Request) => {
    const rows = inbox.rows()
    return list(rows, request, await read(page(rows, request)))
  })
  app.put('/messages', async (request: Request, reply) => {
    fieldsOf(request.query, ['tz'])
    const body = fieldsOf(bodyOf(request), ['IDs', 'Read', 'Search'])
    const query = textOf(body, 'Search')
    const ids = textsOf(body, 'IDs')
    if (ids.length > 0 && query !== '') throw new BadRequest('IDs: not with Search')
    if (body.Read !== undefined && typeof body.Read !== 'boolean') throw new BadRequest('Read: must be true or false')
    const rows = ids.length > 0 ? rowsOf(ids) : await findAll(query, request)
    inbox.setRead(rows, body.Read === true)
    return ok(reply)
  })
  app.delete('/messages', async (request: Request, reply) => {
    fieldsOf(request.query, [])
    const ids = textsOf(fieldsOf(bodyOf(request), ['IDs']), 'IDs')
    inbox.delete(ids.length > 0 ? rowsOf(ids) : inbox.rows())
    return ok(reply)
  })
  app.get('/search', async (request: Request) => {
    const { rows } = await finder.find(queryOf(request), zoneOf(request), READ_MS)
    return list(rows, request, await read(page(rows, request)))
  })
  app.delete('/search', async (request: Request, reply) => {
    fieldsOf(request.query, ['query', 'tz'])
    inbox.delete(await findAll(queryOf(request), request))
    return ok(reply)
  })

  app.get('/message/:id', { onRequest: refuseOtherSitesAlways }, async (request: Request, reply) => {
    const found = await findOne(request)
    if (!found) return notFound(reply)
    const { entry, row } = found
    const tags = marks.tagsOf(row.message)
    const order = { form: 'mailpit', entry, file: inbox.fileOf(entry), recipients: recipientsOf(row), tags } as const
    const octets = await shown(() => reader.show(order))
    inbox.setRead([row], true)
    return octets ? json(reply, octets) : notFound(reply)
  })
  app.get('/message/:id/headers', async (request: Request, reply) => showForm('headers', request, reply))
  app.get('/message/:id/html-check', async (request: Request, reply) => showForm('html-check', request, reply))
  app.get('/message/:id/raw', async (request: Request, reply) => {
    const found = await findOne(request)
    const file = found && (await inbox.open(found.entry))
    if (!file) return notFound(reply)
    reply.type('text/plain; charset=utf-8').header('content-length', (await file.stat()).size)
    if (request.query.dl === '1') reply.header('content-disposition', `attachment; filename="${found.entry.id}.eml"`)
    return reply.send(file.createReadStream())
  })
  app.get('/message/:id/part/:part', async (request: Request, reply) => {
    const found = await findOne(request)
    const number = /^[1-9]\d{0,4}$/.test(request.params.part) ? Number(request.params.part) - 1 : undefined
    if (!found || number === undefined) return notFound(reply)
    const part = await shown(() => reader.attachment({ form: 'attachment', file: inbox.fileOf(found.entry), number }))
    if (!part) return notFound(reply)
    const { content, contentType, fileName } = part
    const isSafe = CONTENT_TYPE.test(contentType) && !ACTIVE.test(contentType)
    const name = encodeURIComponent((fileName ?? `part-${number + 1}`).slice(0, 200).toWellFormed()).replaceAll(
      "'",
      '%27',
    )
    return reply
      .type(isSafe ? contentType : 'application/octet-stream')
      .header('content-security-policy', "default-src 'none'; sandbox")
      .header('content-disposition', `${isSafe ? 'inline' : 'attachment'}; filename*=UTF-8''${name}`)
      .send(Buffer.from(content.buffer, content.byteOffset, content.length))
  })
  app.get('/message/:id/link-check', { onRequest: refuseOtherSitesAlways }, async (request: Request, reply) => {
    const found = await findOne(request)
    const links = found && (await linksOf(found.entry))
    if (!links) return notFound(reply)
    const { follow } = request.query
    const statuses = await requests.check(judge.targetsOf(links.links), follow === 'true' || follow === '1')
    const Links = [...statuses].map(([URL, { code, text }]) => ({ URL, StatusCode: code, Status: text }))
    return { Errors: Links.filter(({ StatusCode }) => StatusCode === 0 || StatusCode >= 400).length, Links }
  })
  app.post('/message/:id/release', async (request: Request, reply) => {
    const found = await findOne(request)
    if (!found) return notFound(reply)
    const to = textsOf(bodyOf(request), 'To')
    if (!(await releases.release(found.entry, inbox.fileOf(found.entry), to))) return notFound(reply)
    return ok(reply)
  })
  // Mailpit has no such path: its pages only show the field.
  app.post('/message/:id/unsubscribe', async (request: Request, reply) => {
    const found = await findOne(request)
    const links = found && (await linksOf(found.entry))
    if (!links) return notFound(reply)
    if (!links.unsubscribe) throw new BadRequest('the message has no List-Unsubscribe')
    const { code, text } = await requests.unsubscribe(links.unsubscribe)
    return { StatusCode: code, Status: text }
  })
  app.get('/message/:id/sa-check', async (_request, reply) => sendError(reply, 400, 'the inbox has no SpamAssassin'))

  app.post('/send', async (request) => ({ ID: await storeSent(inbox, bodyOf(request)) }))
  app.get('/tags', async () => marks.allTags().map(([name]) => name))
  app.put('/tags', async (request, reply) => {
    const body = bodyOf(request)
    const ids = textsOf(body, 'IDs')
    if (ids.length === 0) throw new BadRequest('IDs: must name messages')
    inbox.setTags(rowsOf(ids), textsOf(body, 'Tags'))
    return ok(reply)
  })
  app.put('/tags/:tag', async (request: Request, reply) => {
    const name = textOf(bodyOf(request), 'Name')
    if (name === '') throw new BadRequest('Name: must be the new name')
    inbox.replaceTag(request.params.tag, name)
    return ok(reply)
  })
  app.delete('/tags/:tag', async (request: Request, reply) => {
    inbox.replaceTag(request.params.tag)
    return ok(reply)
  })
  app.get('/info', async () => infoOf(inbox, rejections, programBuild().version))
  app.get('/webui', async () => webUiOf(releases))
  app.route({
    method: ['GET', 'PUT'],
    url: '/chaos',
    handler: async (_request, reply) =>
      sendError(reply, 400, 'the inbox has no triggers: the recipient selects a failure, such as bounce@example.com'),
  })

  async function list(rows: readonly Row[], request: Request, shownRows: readonly Row[]) {
    const all = inbox.rows()
    const unread = (some: readonly Row[]) => some.filter(({ message }) => !marks.isRead(message)).length
    return {
      total: all.length,
      unread: unread(all),
      count: shownRows.length,
      messages_count: rows.length,
      messages_unread: unread(rows),
      start: numberOf(request.query, 'start', 0, MAX_LISTED),
      tags: marks.allTags().map(([name]) => name),
      messages: shownRows.map((row) => summaryOf(row, finder, marks)),
    }
  }

  function page(rows: readonly Row[], { query }: Request): readonly Row[] {
    const start = numberOf(query, 'start', 0, MAX_LISTED)
    return rows.slice(start, start + numberOf(query, 'limit', 50, MAX_LISTED))
  }

  async function read(rows: readonly Row[]): Promise<readonly Row[]> {
    await finder.read(rows, READ_MS)
    return rows
  }

  function rowsOf(ids: readonly string[]): readonly Row[] {
    const byMessage = new Map<string, Row>()
    for (const id of ids) {
      const row = inbox.rowOf(id)
      if (row) byMessage.set(row.message, row)
    }
    return [...byMessage.values()]
  }

  /** The messages of a search whose result is changed: only when it is known of every message whether it matches. */
  async function findAll(query: string, request: Request): Promise<readonly Row[]> {
    const { rows, isReading } = await finder.find(query, zoneOf(request), DELETE_MS)
    if (isReading) throw new NotShown('busy')
    return rows
  }

  async function findOne(request: Request): Promise<{ readonly entry: InboxEntry; readonly row: Row } | undefined> {
    const { id } = request.params
    if (id !== 'latest') {
      const [entry, row] = [inbox.find(id), inbox.rowOf(id)]
      return entry && row && { entry, row }
    }
    const query = textOf(request.query, 'query').trim()
    const rows = query === '' ? inbox.rows() : (await finder.find(query, zoneOf(request), READ_MS)).rows
    return rows[0] && { entry: rows[0].entries[0], row: rows[0] }
  }

  async function showForm(form: Form, request: Request, reply: FastifyReply): Promise<unknown> {
    const found = await findOne(request)
    if (!found) return notFound(reply)
    const octets = await shown(() => reader.show({ form, entry: found.entry, file: inbox.fileOf(found.entry) }))
    if (octets) return json(reply, octets)
    return form === 'html-check' ? sendError(reply, 400, 'message does not contain HTML') : notFound(reply)
  }

  async function linksOf(entry: InboxEntry): Promise<MessageLinks | undefined> {
    return shown(() => reader.links(entry, inbox.fileOf(entry)))
  }
}

/** Throws a BadRequest in place of NotShown, whose status is that of a message that takes too much to read. */
async function shown<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof NotShown && error.why !== 'busy')
      throw new BadRequest('parsing this message takes too much time or memory; /raw has it')
    throw error
  }
}

function queryOf({ query }: Request): string {
  const text = textOf(query, 'query').trim()
  if (text === '') throw new BadRequest('query: must be a search')
  return text
}

function zoneOf({ query }: Request): string {
  const zone = textOf(query, 'tz')
  if (zone === '') return 'UTC'
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone.slice(0, 60) }).resolvedOptions().timeZone
  } catch {
    throw new BadRequest('tz: must be a time zone such as Europe/Berlin')
  }
}

function ok(reply: FastifyReply): FastifyReply {
  return reply.type('text/plain; charset=utf-8').send('ok')
}

function json(reply: FastifyReply, octets: Buffer): FastifyReply {
  return reply.type('application/json').send(octets)
}

function notFound(reply: FastifyReply): FastifyReply {
  return sendError(reply, 404, '404 page not found')
}

import { isFromHere } from '@postrider/ui'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { InboxEntry, Row } from '../inbox-entry.ts'
import { NotSent } from '../outgoing/link-requests.ts'
import { partUrl } from '../page/part-url.ts'
import type { MessageLinks } from '../reading/judged-link.ts'
import type { Notice } from '../reading/part-order.ts'
import { BadTerm } from '../search/read-search.ts'
import { forbidden, listQuery, orNothing, type PageRequest, text } from './page-kit.ts'
import type { PagesOptions } from './pages-options.ts'

const MAX_FORM = 4096
/** Milliseconds that a form which changes what a search finds waits until that is known. */
const FIND_MS = 10_000

type Act = (entry: InboxEntry, row: Row, request: PageRequest) => Promise<string | undefined> | string | undefined

/** The forms of the pages. `notFound` answers for messages that are not there. */
export function addForms(
  app: FastifyInstance,
  { inbox, reader, finder, judge, requests, releases, outcomes }: PagesOptions,
  notFound: (reply: FastifyReply) => Promise<unknown>,
): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: MAX_FORM },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  )

  form('delete', (_entry, row, { query }) => {
    inbox.delete([row])
    return `/${listQuery(query)}`
  })
  form('unread', (_entry, row, { query }) => {
    inbox.setRead([row], false)
    return `/${listQuery(query)}`
  })
  form('tags', ({ id }, row, { body, query }) => {
    inbox.setTags([row], text(body?.tags).split(','))
    return `/view/${id}${listQuery(query)}`
  })
  form('release', async (entry, _row, { body, query }) => {
    const to = text(body?.to).split(/[\s,;]/)
    await noting(entry.id, async () => {
      if (!(await releases.release(entry, inbox.fileOf(entry), to))) return { kind: 'failed', detail: '' }
      return { kind: 'released', detail: to.filter(Boolean).join(', ') }
    })
    return `/view/${entry.id}${listQuery(query)}`
  })
  form('links', async (entry, _row, { query }) => {
    const found = await linksOf(entry)
    if (!found) return undefined
    await noting(entry.id, async () => {
      outcomes.set(entry.id, { statuses: await requests.check(judge.targetsOf(found.links)) })
      return undefined
    })
    return partUrl(entry.id, listQuery(query), { part: 'links' })
  })
  form('unsubscribe', async (entry, _row, { query }) => {
    const field = (await linksOf(entry))?.unsubscribe
    if (!field) return undefined
    await noting(entry.id, async () => {
      const { code, text } = await requests.unsubscribe(field)
      return { kind: code >= 200 && code < 300 ? 'unsubscribed' : 'failed', detail: code === 0 ? text : String(code) }
    })
    return partUrl(entry.id, listQuery(query), { part: 'checks' })
  })
  all('delete-all', (rows) => inbox.delete(rows))
  all('read-all', (rows) => inbox.setRead(rows, true))

  /** A form of one message; the path that it leads to, or undefined if the message is not there. */
  function form(name: string, act: Act): void {
    app.post(`/view/:id/${name}`, async (request, reply) => {
      if (!isFromHere(request, 'http:')) return forbidden(reply)
      const { id } = (request as PageRequest).params
      const [entry, row] = [inbox.find(id), inbox.rowOf(id)]
      const path = entry && row && (await act(entry, row, request as PageRequest))
      return path === undefined ? notFound(reply) : reply.redirect(path, 303)
    })
  }

  /** A form of all messages that a search finds. */
  function all(name: string, act: (rows: readonly Row[]) => void): void {
    app.post(`/${name}`, async (request, reply) => {
      if (!isFromHere(request, 'http:')) return forbidden(reply)
      const { query } = request as PageRequest
      try {
        const { q = '' } = query
        if (typeof q !== 'string') throw new BadTerm('q', 'one search at a time')
        const { rows, isReading } = await finder.find(q, 'UTC', FIND_MS)
        if (isReading)
          return reply.code(503).send({ error: 'messages are still being read; retry after a few seconds' })
        act(rows)
      } catch (error) {
        if (!(error instanceof BadTerm)) throw error
        return reply.code(400).send({ error: `q: ${error.message}` })
      }
      return reply.redirect(name === 'delete-all' ? '/' : `/${listQuery(query)}`, 303)
    })
  }

  async function noting(id: string, act: () => Promise<Notice | undefined>): Promise<void> {
    try {
      const notice = await act()
      if (notice) outcomes.set(id, { notice })
    } catch (error) {
      if (!(error instanceof NotSent)) throw error
      outcomes.set(id, { notice: { kind: 'failed', detail: error.message } })
    }
  }

  async function linksOf(entry: InboxEntry): Promise<MessageLinks | undefined> {
    return orNothing(reader.links(entry, inbox.fileOf(entry)))
  }
}

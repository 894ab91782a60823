import Fastify, { type FastifyInstance } from 'fastify'
import { simpleParser } from 'mailparser'
import type { Inbox, InboxEntry } from './inbox.ts'
import { listPage, messagePage } from './pages.ts'

/** Above this a message is only shown raw. */
const PARSED_AT_MOST = 5 * 1024 * 1024

export interface ShownMessage extends InboxEntry {
  readonly headers: readonly { name: string; value: string }[]
  readonly text: string | null
  readonly html: string | null
  readonly attachments: readonly { fileName: string | null; contentType: string; size: number }[]
}

/** The inbox over HTTP: JSON for programs, two small pages for people. */
export function createSandboxHttp(inbox: Inbox): FastifyInstance {
  const app = Fastify({ logger: false, forceCloseConnections: true })
  app.addHook('onRequest', async (_request, reply) => {
    // What is shown came from outside: nothing of it may run, load or frame.
    reply.header(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'; sandbox allow-same-origin",
    )
    reply.header('x-content-type-options', 'nosniff')
  })
  app.get('/messages', async () => inbox.list())
  app.delete('/messages', async () => {
    inbox.clear()
    return { cleared: true }
  })
  app.get<{ Params: { id: string } }>('/messages/:id', async ({ params }, reply) => {
    const entry = inbox.find(params.id)
    return entry ? show(inbox, entry) : notFound(reply)
  })
  app.get<{ Params: { id: string } }>('/messages/:id/raw', async ({ params }, reply) => {
    const entry = inbox.find(params.id)
    if (!entry) return notFound(reply)
    return reply.type('message/rfc822').send(inbox.raw(entry))
  })
  app.get('/', async (_request, reply) => reply.type('text/html; charset=utf-8').send(listPage(inbox.list())))
  app.get<{ Params: { id: string } }>('/view/:id', async ({ params }, reply) => {
    const entry = inbox.find(params.id)
    if (!entry) return notFound(reply)
    return reply.type('text/html; charset=utf-8').send(messagePage(await show(inbox, entry)))
  })
  return app
}

function notFound(reply: { code(status: number): { send(body: unknown): unknown } }): unknown {
  return reply.code(404).send({ error: 'there is no such message' })
}

async function show(inbox: Inbox, entry: InboxEntry): Promise<ShownMessage> {
  const raw = inbox.raw(entry)
  if (raw.length > PARSED_AT_MOST) return { ...entry, headers: [], text: null, html: null, attachments: [] }
  const parsed = await simpleParser(raw, { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true })
  return {
    ...entry,
    headers: parsed.headerLines.map(({ line }) => {
      const colon = line.indexOf(':')
      return { name: line.slice(0, colon), value: line.slice(colon + 1).trim() }
    }),
    text: parsed.text ?? null,
    html: parsed.html || null,
    attachments: parsed.attachments.map(({ filename, contentType, size }) => ({
      fileName: filename ?? null,
      contentType,
      size,
    })),
  }
}

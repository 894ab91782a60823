import Fastify, { type FastifyInstance } from 'fastify'
import { type Hosts, isOurs } from './hosts.ts'
import type { Inbox } from './inbox.ts'
import { listPage, messagePage } from './pages.ts'
import { type ShownMessage, showMessage } from './shown-message.ts'

/**
 * A message's HTML as its reader's mail program shows it: images load and links lead on, also into a window of their own; no
 * script runs, and it has no origin, so that it reads nothing of this one.
 */
const AS_A_READER =
  "default-src 'none'; img-src http: https: data:; media-src http: https: data:; font-src http: https: data:; " +
  "style-src 'unsafe-inline' http: https:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; " +
  'sandbox allow-popups allow-popups-to-escape-sandbox'

/** The inbox over HTTP: JSON for programs, two small pages for people. */
export function createSandboxHttp(inbox: Inbox, hosts: Hosts): FastifyInstance {
  const app = Fastify({ logger: false, forceCloseConnections: true })
  app.addHook('onRequest', async (request, reply) => {
    // What is shown came from outside: nothing of it may run, load or frame.
    reply.header(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'; sandbox allow-same-origin",
    )
    reply.header('x-content-type-options', 'nosniff')
    if (isOurs(request.headers.host, hosts)) return undefined
    return reply.code(421).send({
      error:
        'the sandbox inbox is not served under this host name: ask for it as localhost or 127.0.0.1, or name it in SANDBOX_NAMES',
    })
  })
  app.get('/messages', async () => inbox.list())
  app.delete('/messages', async () => {
    inbox.clear()
    return { cleared: true }
  })
  app.get<{ Params: { id: string } }>('/messages/:id', async ({ params }, reply) => {
    const shown = await show(params.id)
    return shown ?? notFound(reply)
  })
  app.get<{ Params: { id: string } }>('/messages/:id/raw', async ({ params }, reply) => {
    const entry = inbox.find(params.id)
    const raw = entry && inbox.raw(entry)
    if (!raw) return notFound(reply)
    return reply.type('message/rfc822').send(raw)
  })
  app.get<{ Params: { id: string } }>('/messages/:id/html', async ({ params }, reply) => {
    const shown = await show(params.id)
    if (!shown?.html) return notFound(reply)
    return reply
      .header('content-security-policy', AS_A_READER)
      .header('referrer-policy', 'no-referrer')
      .type('text/html; charset=utf-8')
      .send(shown.html)
  })
  app.get('/', async (_request, reply) => reply.type('text/html; charset=utf-8').send(listPage(inbox.list())))
  app.get<{ Params: { id: string } }>('/view/:id', async ({ params }, reply) => {
    const shown = await show(params.id)
    if (!shown) return notFound(reply)
    return reply.type('text/html; charset=utf-8').send(messagePage(shown))
  })
  app.setNotFoundHandler((_request, reply) => {
    reply.code(404).send({ error: 'there are /, /messages, /messages/ID, /messages/ID/html and /messages/ID/raw' })
  })
  return app

  async function show(id: string): Promise<ShownMessage | undefined> {
    const entry = inbox.find(id)
    return entry && showMessage(inbox, entry)
  }
}

function notFound(reply: { code(status: number): { send(body: unknown): unknown } }): unknown {
  return reply.code(404).send({ error: 'there is no such message; /messages lists the ids' })
}

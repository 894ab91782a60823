import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { type InboxEntry, listed, recipientsOf } from '../inbox-entry.ts'
import { mailpitRoutes } from '../mailpit/routes.ts'
import { NotShown } from '../reading/message-reader.ts'
import { unparsed, withFindings } from '../reading/shown-message.ts'
import { compressed } from './compression.ts'
import { type Hosts, isOurs } from './hosts.ts'
import { addPages } from './inbox-pages.ts'
import type { PagesOptions } from './pages-options.ts'
import { MAIL_PROGRAM_POLICY } from './plain-views.ts'
import { rejectionList } from './rejection-list.ts'
import { addWait } from './wait.ts'

const BUSY = 'the inbox is busy; retry after a few seconds'
const TOO_COSTLY = 'parsing this message takes too much time or memory; see /messages/ID/raw'

/** The inbox over HTTP: JSON for programs, pages for a browser. */
export async function createSandboxHttp(options: PagesOptions, hosts: Hosts): Promise<FastifyInstance> {
  const { inbox, reader, judge, outcomes, waits } = options
  const app = Fastify({ logger: false, forceCloseConnections: true })
  app.addHook('onRequest', async (request, reply) => {
    // Messages are untrusted: nothing in them may run, load or frame.
    reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
    reply.header('x-content-type-options', 'nosniff')
    if (isOurs(request.headers.host, hosts)) return undefined
    return reply.code(421).send({
      error:
        'the sandbox inbox is not served under this host name; use localhost or 127.0.0.1, or add the name to SANDBOX_NAMES',
    })
  })
  app.addHook('onSend', compressed)
  app.get('/messages', async () => inbox.list().map(listed))
  app.get('/rejections', async (request) => rejectionList(options.rejections, request.query))
  for (const path of ['/livez', '/readyz'])
    app.get(path, async (_request, reply) => reply.type('text/plain').send('ok'))
  app.delete('/messages', async ({ query }, reply) => {
    if (Object.keys(query as object).length > 0)
      return reply.code(400).send({ error: 'DELETE /messages removes all messages: it has no parameters' })
    inbox.clear()
    return { cleared: true }
  })
  app.get<{ Params: { id: string } }>('/messages/:id', async ({ params }, reply) => {
    const entry = inbox.find(params.id)
    return entry ? showJson(entry, reply) : notFound(reply)
  })
  addWait(app, waits, showJson)
  app.get<{ Params: { id: string } }>('/messages/:id/raw', async ({ params }, reply) => {
    const entry = inbox.find(params.id)
    const file = entry && (await inbox.open(entry))
    if (!file) return notFound(reply)
    return reply
      .type('message/rfc822')
      .header('content-length', (await file.stat()).size)
      .send(file.createReadStream())
  })
  app.get<{ Params: { id: string } }>('/messages/:id/html', async ({ params }, reply) => {
    reply.header('content-security-policy', MAIL_PROGRAM_POLICY).header('referrer-policy', 'no-referrer')
    const entry = inbox.find(params.id)
    if (!entry) return notFound(reply)
    const file = inbox.fileOf(entry)
    return send(
      () => reader.show({ form: 'html', entry, file }),
      'text/html; charset=utf-8',
      reply,
      () => reply.code(404).send({ error: TOO_COSTLY }),
    )
  })
  await app.register((api) => mailpitRoutes(api, options), { prefix: '/api/v1' })
  await addPages(app, options)
  app.setNotFoundHandler((_request, reply) => {
    reply.code(404).send({
      error:
        'not found; available paths: /, /messages, /messages/wait, /messages/ID, /messages/ID/html, /messages/ID/raw, /rejections, and those of ' +
        'Mailpit below /api/v1',
    })
  })
  return app

  async function showJson(entry: InboxEntry, reply: FastifyReply): Promise<unknown> {
    const file = inbox.fileOf(entry)
    const recipients = recipientsOf(inbox.rowOf(entry.id) ?? { message: entry.message, entries: [entry] })
    const read = async () => {
      const { statuses } = outcomes.of(entry.id)
      const found = await reader.links(entry, file)
      const links = (found?.links ?? []).map((link) => judge.judge(link, statuses))
      return reader.show({ form: 'json', entry, file, recipients, links })
    }
    return send(read, 'application/json; charset=utf-8', reply, () =>
      reply.send(withFindings(unparsed(entry), { recipients, links: [] })),
    )
  }

  /** Sends bytes as they come from the thread: no message is copied or encoded in the main loop. `instead` answers if parsing takes too much. */
  async function send(
    read: () => Promise<Buffer | undefined>,
    type: string,
    reply: FastifyReply,
    instead: () => unknown,
  ): Promise<unknown> {
    try {
      const octets = await read()
      return octets ? reply.type(type).send(octets) : notFound(reply)
    } catch (error) {
      if (!(error instanceof NotShown)) throw error
      return error.why === 'busy' ? reply.code(503).send({ error: BUSY }) : instead()
    }
  }
}

function notFound(reply: { code(status: number): { send(body: unknown): unknown } }): unknown {
  return reply.code(404).send({ error: 'message not found; /messages lists the ids' })
}

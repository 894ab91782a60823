import { type Core, ServiceError } from '@postrider/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Entrance } from '../entry-points.ts'
import { reserveBody } from '../http/body-budget.ts'
import { clientAddress } from '../http/client-address.ts'
import { collectBody } from '../http/collect-body.ts'
import { refuseOtherMethods, unreachable } from '../http/known-paths.ts'
import { LARGE_BODY } from '../http/large-body.ts'
import { keepRate } from '../http/rate-headers.ts'
import { newCount, parseStrictJson } from '../http/strict-json.ts'
import type { Caller } from './caller.ts'
import { McpRefusal, sendMcpRefusal } from './refusal.ts'

export interface McpOptions {
  readonly core: Core
  readonly publicUrl: string
  readonly entrance: Entrance
}

const PATH = '/mcp'

/**
 * Tools for agents by the Model Context Protocol (Streamable HTTP). Each call carries an API key, stands for itself and may reach any process. The
 * protocol's library is loaded here, and not by a call: others would wait 0.13 s for it.
 */
export async function mcp(app: FastifyInstance, { core, publicUrl, entrance }: McpOptions): Promise<void> {
  const root = app
  const { serve } = await import('./serve.ts')
  app.setErrorHandler(sendMcpRefusal)
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.allow !== undefined) throw new ServiceError('methodNotAllowed')
  })
  refuseOtherMethods(app, [{ url: PATH, methods: ['POST'] }])
  await app.register(async (inner) => {
    inner.removeAllContentTypeParsers()
    inner.addContentTypeParser(
      'application/json',
      collectBody(LARGE_BODY, (_request, body, done) => {
        try {
          done(null, parseStrictJson(body, newCount(true)))
        } catch (error) {
          done(error as Error)
        }
      }),
    )
    inner.addHook('onRequest', async (request, reply) => {
      requireOwnOrigin(request, publicUrl)
      if (entrance.isStopping()) throw new ServiceError('notReady', { reason: 'the process is stopping' })
      request.principal = await core.auth.authenticate(keyOf(request), clientAddress(request), onBehalfOf(request))
      await keepRate(core.rateLimits, request.principal.rates.calls, reply)
      reserveBody(entrance.budget, request, reply, LARGE_BODY)
    })
    inner.post(PATH, { schema: { hide: true } }, async (request, reply) => {
      const caller = { app: root, core, publicUrl, ...identityOf(request) }
      return answer(serve, caller, request, reply)
    })
  })
  app.setNotFoundHandler(unreachable)
}

function identityOf(request: FastifyRequest): Omit<Caller, 'app' | 'core' | 'publicUrl'> {
  const { principal } = request
  return { principal, key: keyOf(request) ?? '', onBehalfOf: onBehalfOf(request), address: clientAddress(request) }
}

type Serve = (caller: Caller, asked: { readonly request: Request; readonly body: unknown }) => Promise<Response>

async function answer(
  serve: Serve,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { body, headers } = request
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new McpRefusal(400, -32600, 'the body must be one JSON-RPC message; batches are not part of the protocol')
  const asked = new Request(`${caller.publicUrl}${PATH}`, { method: 'POST', headers: textsOf(headers) })
  const response = await serve(caller, { request: asked, body })
  reply.code(response.status)
  for (const [name, value] of response.headers) reply.header(name, value)
  return reply.send(response.body === null ? '' : await response.text())
}

function textsOf(headers: FastifyRequest['headers']): Record<string, string> {
  const texts = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return Object.fromEntries(texts)
}

/** The key of `Authorization: Bearer`, as clients of the protocol send it (RFC 6750 2.1), or of `api_key`, as those of v2 do. */
function keyOf({ headers }: FastifyRequest): string | undefined {
  const { api_key: key, authorization } = headers
  if (key !== undefined) return Array.isArray(key) ? key[0] : key
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
}

function onBehalfOf({ headers }: FastifyRequest): string | undefined {
  const name = headers['on-behalf-of']
  return Array.isArray(name) ? name[0] : name
}

/**
 * The protocol demands it: a page whose name was made to lead to this host has its own origin (DNS rebinding). Programs other than browsers send none. Pages
 * of a server on this machine may ask it by its loopback name.
 */
function requireOwnOrigin({ headers: { origin, host } }: FastifyRequest, publicUrl: string): void {
  if (origin === undefined || origin === new URL(publicUrl).origin) return
  if (isLoopback(origin) && isLoopback(`http://${host}`)) return
  throw new McpRefusal(403, -32000, 'pages of this origin may not call /mcp')
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

function isLoopback(url: string): boolean {
  return LOOPBACK.has(URL.parse(url)?.hostname ?? '')
}

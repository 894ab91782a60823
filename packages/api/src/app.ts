import { METHODS } from 'node:http'
import { type Config, type Core, createByteBudget, LIMITS, type Log, ServiceError } from '@postrider/core'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { exportLinks } from './export-links.ts'
import { health } from './health.ts'
import { refuseMalformed } from './malformed.ts'
import { openapi } from './openapi.ts'
import { tracking } from './tracking/index.ts'
import { sendFailure } from './v2/envelope.ts'
import { v2 } from './v2/index.ts'
import { v3 } from './v3/index.ts'
import { helpPage } from './v3/mail-send/help-page.ts'
import { sendRefusal } from './v3/refusal.ts'

export { OPERATIONS } from './v2/operations.ts'
export type { Operation as V3Operation } from './v3/operation.ts'
export { OPERATIONS as V3_OPERATIONS } from './v3/operations.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when the process stops: whoever waits for something answers at once. */
    draining: AbortSignal
  }
}

export interface AppOptions {
  readonly core: Core
  readonly config: Config
  readonly log: Log
}

/** The Web API as one Fastify application; it translates and never decides. */
export async function buildApp({ core, config, log }: AppOptions): Promise<FastifyInstance> {
  let stopping = false
  const draining = new AbortController()
  const malformed = refuseMalformed()
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: LIMITS.messageSize,
    // Only the hop that a configured proxy vouches for counts (V42).
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    // An address in a path may be as long as an address may be, each octet of it written as three.
    routerOptions: { ignoreTrailingSlash: true, caseSensitive: false, maxParamLength: 1000 },
    forceCloseConnections: 'idle',
    // What still comes in while draining is refused by v2 in its own shape, and /health tells.
    return503OnClosing: false,
    // V41: a client has 10 s for its headers and 60 s for the whole request.
    requestTimeout: 60_000,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 2000 },
    clientErrorHandler: malformed.handler,
    // A path that can't be decoded is known to nobody.
    frameworkErrors: (_error, request, reply) => {
      const inOwnShape = /^\/v3(\/|$)/i.test(request.url) ? sendRefusal : sendFailure
      inOwnShape(new ServiceError('notFound'), request, reply)
    },
    // JSON must mean what it says: coercion would turn "abc" into ["abc"] and null into "" before 120 and 116 could be seen.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } },
  })
  malformed.watch(app.server)
  // A method nobody knows is as wrong on a known path as any other: 405, and not 404.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  app.decorate('draining', draining.signal)
  app.decorateRequest('principal')
  app.decorateRequest('fileParts')
  app.addHook('preClose', async () => {
    stopping = true
    draining.abort()
  })
  // The framework closes what is idle now; a connection in the middle of a call would stay open after it, and hold up the end.
  app.addHook('onSend', async (_request, reply) => {
    if (stopping) reply.header('connection', 'close')
  })
  app.addHook('onResponse', async () => {
    if (stopping) setImmediate(() => app.server.closeIdleConnections())
  })
  const budget = createByteBudget(config.bodyBudget)
  app.setErrorHandler(sendFailure)
  // Before anything of the body is read: nobody has shown a key for it.
  app.addHook('onRequest', async ({ is404 }) => {
    if (is404) throw new ServiceError('notFound')
  })
  const isStopping = () => stopping
  await app.register(health, { core, isStopping })
  await app.register(tracking, { prefix: '/t', core })
  await app.register(exportLinks, { core })
  await openapi(app)
  // v2.1 is announced only; what exists is served under both (contract section 1).
  for (const prefix of ['/v2', '/v2.1']) await app.register(v2, { prefix, core, budget, isStopping })
  await app.register(helpPage)
  await app.register(v3, { prefix: '/v3', core, budget, publicUrl: config.publicUrl, isStopping })
  return app
}

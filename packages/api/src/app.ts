import { type Config, type Core, createByteBudget, type Log, ServiceError } from '@postrider/core'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type HTTPMethods, LogController } from 'fastify'
import { FRAME } from './doors.ts'
import { exportLinks } from './export-links.ts'
import { health } from './health.ts'
import { createLargeCalls } from './large-calls/index.ts'
import { refuseMalformed } from './malformed.ts'
import { openDoors } from './open-doors.ts'
import { openapi } from './openapi.ts'
import { tracking } from './tracking/index.ts'
import { sendFailure } from './v2/envelope.ts'
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
    ...FRAME,
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // Only the hop that a configured proxy vouches for counts (V42).
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
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
  })
  malformed.watch(app.server)
  // A method that no path takes is as wrong on a known path as any other: 405, and not 404. One stands for all of them: routes
  // of 35 methods for each path took 11 MB.
  const routed = new Set(app.supportedMethods)
  app.server.prependListener('request', (request) => {
    if (!routed.has(request.method as HTTPMethods)) request.method = 'TRACE'
  })
  app.decorate('draining', draining.signal)
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
  const largeCalls = createLargeCalls({ config, log })
  app.addHook('onClose', () => largeCalls.close())
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
  await app.register(helpPage)
  await openDoors(app, { core, publicUrl: config.publicUrl, entrance: { budget, largeCalls, isStopping } })
  return app
}

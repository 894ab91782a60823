import { type Config, type Core, createByteBudget, type Log, ServiceError, type StopState } from '@postrider/core'
import { type AnswerBadAddress, dashboard, readerOf } from '@postrider/dashboard'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { docs } from './docs/index.ts'
import { FRAME } from './entry-points.ts'
import { exportLinks } from './export-links.ts'
import { health } from './health.ts'
import { routeOtherMethods } from './http/known-paths.ts'
import { refuseMalformed, refuseOddHosts } from './http/malformed.ts'
import { addPublicPath, demandHttps, withoutPublicPath } from './http/public-path.ts'
import { measureRequests } from './http/request-metrics.ts'
import { trackUnusedConnections } from './http/unused-connections.ts'
import { createLargeCalls } from './large-calls/index.ts'
import { doLargeWork } from './large-calls/large-work.ts'
import { mcp } from './mcp/index.ts'
import { openapi } from './openapi.ts'
import { operator } from './operator/index.ts'
import { registerEntryPoints } from './register-entry-points.ts'
import { tlsHosts } from './tls-hosts.ts'
import { tracking, withoutTrail } from './tracking/index.ts'
import { sendFailure, V2_FORM } from './v2/envelope.ts'
import { sendRefusal, V3_FORM } from './v3/refusal.ts'

export { OPERATIONS as OPERATOR_OPERATIONS } from './operator/operations.ts'
export { OPERATIONS } from './v2/operations.ts'
export type { Operation as V3Operation } from './v3/operation.ts'
export { OPERATIONS as V3_OPERATIONS } from './v3/operations.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when the process stops, so that requests that wait for something return immediately. */
    draining: AbortSignal
  }
}

/** Milliseconds that a client has to send the header of a request (V41). */
const HEADERS_TIMEOUT_MS = 10_000

export interface AppOptions {
  readonly core: Core
  readonly config: Config
  readonly log: Log
  /** Whether the process was asked to stop; it may accept calls for some time longer. */
  readonly stop?: StopState
}

/** Builds the Web API as one Fastify application. It translates between wire formats and core, and makes no decisions itself. */
export async function buildApp({
  core,
  config,
  log,
  stop = { isStopping: () => false, isReplaced: () => false },
}: AppOptions): Promise<FastifyInstance> {
  let stopping = false
  const draining = new AbortController()
  const malformed = refuseMalformed(V2_FORM, [V3_FORM], config.publicPath)
  let badAddressPage: AnswerBadAddress | undefined
  const onBadAddress = (answer: AnswerBadAddress) => void (badAddressPage = answer)
  const app = Fastify({
    ...FRAME,
    loggerInstance: log as FastifyBaseLogger,
    rewriteUrl: ({ url = '/' }) => withoutTrail(withoutPublicPath(url, config.publicPath)),
    logController: new LogController({ disableRequestLogging: true }),
    // Only the hop that a configured proxy vouches for is trusted (V42).
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    forceCloseConnections: 'idle',
    // Requests that arrive during shutdown get v2's own error shape, and /health reports the shutdown.
    return503OnClosing: false,
    // V41: a client has 10 s to send its headers and 60 s for the whole request.
    requestTimeout: 60_000,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    // A request without a host is refused in our own words (refuseOddHosts).
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: 2000, requireHostHeader: false },
    clientErrorHandler: malformed.handler,
    // A path that cannot be percent-decoded matches no route.
    frameworkErrors: (_error, request, reply) => {
      if (badAddressPage && /^\/app(\/|$)/i.test(request.url)) return void badAddressPage(request, reply)
      const inOwnShape = /^\/v3(\/|$)/i.test(request.url) ? sendRefusal : sendFailure
      inOwnShape(new ServiceError('notFound'), request, reply)
    },
  })
  malformed.watch(app.server)
  refuseOddHosts(app)
  demandHttps(app, config.publicUrl)
  const unused = trackUnusedConnections(app.server)
  app.decorate('draining', draining.signal)
  app.addHook('preClose', async () => {
    stopping = true
    draining.abort()
    unused.close(HEADERS_TIMEOUT_MS)
  })
  // The framework closes connections that are idle when it closes. A connection with a call in progress would stay open afterwards and
  // delay shutdown. Clients that are told before close their connections themselves, so that no call meets a closed one.
  app.addHook('onSend', async (_request, reply) => {
    if (stopping || stop.isStopping()) reply.header('connection', 'close')
  })
  app.addHook('onResponse', async () => {
    if (stopping) setImmediate(() => app.server.closeIdleConnections())
  })
  const budget = createByteBudget(config.bodyBudget)
  if (config.metricsPort !== undefined) measureRequests(app, budget)
  const largeCalls = createLargeCalls({ config, log })
  app.addHook('onClose', () => largeCalls.close())
  app.setErrorHandler(sendFailure)
  routeOtherMethods(app)
  addPublicPath(app, config.publicPath)
  // A process that was replaced serves whatever it has accepted, however late a busy host lets it read that: no one is refused.
  const isStopping = () => stopping && !stop.isReplaced()
  await app.register(health, {
    readiness: core.readiness.current,
    isStopping: () => (stopping || stop.isStopping()) && !stop.isReplaced(),
  })
  await app.register(tlsHosts, { core, config })
  await app.register(tracking, { prefix: '/t', core })
  await app.register(exportLinks, { core })
  await openapi(app, config)
  await app.register(operator, { prefix: '/operator/v1', core, config, isStopping })
  await app.register(docs, {
    publicUrl: config.publicUrl,
    publicPath: config.publicPath,
    relayPort: config.relayPort,
    tlsCert: config.tlsCert,
    readerOf: (request) => readerOf(core, config, request.headers.cookie),
  })
  await app.register(dashboard, {
    prefix: '/app',
    core,
    config,
    log,
    draining: draining.signal,
    onBadAddress,
    doLargeWork: (work) => doLargeWork(largeCalls, work),
  })
  app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/app', 302))
  const entrance = { budget, largeCalls, isStopping }
  await registerEntryPoints(app, { core, publicUrl: config.publicUrl, entrance })
  if (config.mcp) await app.register(mcp, { core, publicUrl: config.publicUrl, entrance })
  return app
}

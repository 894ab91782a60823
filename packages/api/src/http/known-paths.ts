import type { IncomingMessage } from 'node:http'
import { ServiceError } from '@postrider/core'
import type { FastifyContextConfig, FastifyInstance, FastifyRequest, HTTPMethods } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on the route of a known path that answers methods it does not accept: the methods it accepts (Allow, RFC 9110 10.2.1). */
    readonly allow?: string
  }
}

/**
 * The method under which each known path has a route for all methods that it does not accept. With a route for each of them there were
 * 2,466, which took 0.15 s of each start.
 */
const OTHER = 'TRACE'

export interface KnownPath {
  readonly url: string
  readonly methods: readonly HTTPMethods[]
}

/** The methods of requests that are routed as `OTHER`. */
const methods = new WeakMap<IncomingMessage, string>()

/** Returns the method that the client sent. */
export function methodOf({ raw }: FastifyRequest): string {
  return methods.get(raw) ?? raw.method ?? ''
}

/**
 * Must be called once for the application, before its routes. A request that no route matches is routed again as `OTHER`, so that a method that
 * a known path does not accept gets 405. Throws notFound for an unknown path, before the body is read, because no key has been checked.
 */
export function routeOtherMethods(app: FastifyInstance): void {
  const routed = new Set<string>(app.supportedMethods)
  app.server.prependListener('request', (request: IncomingMessage) => {
    if (!routed.has(request.method ?? '')) request.method = OTHER
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    if (request.raw.method === OTHER) return done(new ServiceError('notFound'))
    methods.set(request.raw, request.raw.method ?? '')
    request.raw.method = OTHER
    // It is rewritten again.
    request.raw.url = request.originalUrl
    reply.hijack()
    app.routing(request.raw, reply.raw)
  })
}

/** Registers the routes for methods that the paths do not accept. A hook must respond to their requests; it sees `allow` in the configuration. */
export function refuseOtherMethods<P extends KnownPath>(
  app: FastifyInstance,
  paths: readonly P[],
  config: (path: P) => FastifyContextConfig = () => ({}),
): void {
  const patterns = patternsOf(paths)
  for (const path of paths) {
    const method = [OTHER, ...matchedElsewhere(path, patterns)]
    app.route({
      url: path.url,
      method,
      config: { ...config(path), allow: path.methods.join(', ') },
      handler: unreachable,
    })
  }
}

interface Pattern {
  readonly path: KnownPath
  readonly parts: readonly string[]
}

/** Returns the paths that have parameters. */
function patternsOf(paths: readonly KnownPath[]): Pattern[] {
  return paths.filter(({ url }) => url.includes(':')).map((path) => ({ path, parts: path.url.split('/') }))
}

/** Returns the methods that the path does not accept, and that would be routed to a path with a parameter in place of a part of this one. */
function matchedElsewhere({ url, methods }: KnownPath, patterns: readonly Pattern[]): HTTPMethods[] {
  const own = url.split('/')
  const elsewhere = patterns.filter(
    ({ path, parts }) =>
      path.url !== url &&
      parts.length === own.length &&
      own.every((part, at) => part === parts[at] || parts[at]?.startsWith(':')),
  )
  return [...new Set(elsewhere.flatMap(({ path }) => path.methods))].filter((method) => !methods.includes(method))
}

/** The handler of routes that a hook answers. */
export async function unreachable(): Promise<never> {
  throw new Error('unreachable: the hook sends the response')
}

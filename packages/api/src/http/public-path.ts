import type { FastifyInstance } from 'fastify'

/** RFC 9112, 3.2.2: a server has to accept a request target that is a whole URL, although only clients of proxies send it. */
const ORIGIN = /^https?:\/\/[^/?#]{1,300}/i

/**
 * Returns the URL of a request without the path of PUBLIC_URL ("/mail", or empty). Some proxies take it off themselves, and health checks do not
 * have it: a URL without it stays as it is.
 */
export function withoutPublicPath(url: string, publicPath: string): string {
  const origin = publicPath === '' || url.startsWith('/') ? undefined : ORIGIN.exec(url)?.[0]
  if (origin !== undefined) return withoutPublicPath(url.slice(origin.length), publicPath)
  if (publicPath === '' || !url.startsWith(publicPath)) return url
  const rest = url.slice(publicPath.length)
  if (rest.startsWith('/')) return rest
  return rest === '' || rest.startsWith('?') ? `/${rest}` : url
}

/** Two years, as the preload list of browsers asks for at least one. */
const TRANSPORT_SECURITY = 'max-age=63072000'

/**
 * Tells browsers to use https alone for the host of PUBLIC_URL (RFC 6797). Not for the hosts of customers that lead here: they decide about theirs. A
 * browser ignores it in an answer without TLS.
 */
export function demandHttps(app: FastifyInstance, publicUrl: string): void {
  const { protocol, host } = new URL(publicUrl)
  if (protocol !== 'https:') return
  app.addHook('onSend', async (request, reply) => {
    if (request.host === host) reply.header('strict-transport-security', TRANSPORT_SECURITY)
  })
}

/** Adds the path of PUBLIC_URL to redirects within the service. Pages get it in `render` of @postrider/ui. */
export function addPublicPath(app: FastifyInstance, publicPath: string): void {
  if (publicPath === '') return
  app.addHook('onSend', async (_request, reply) => {
    const location = reply.getHeader('location')
    if (typeof location === 'string' && /^\/(?!\/)/.test(location)) reply.header('location', `${publicPath}${location}`)
  })
}

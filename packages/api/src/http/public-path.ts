import type { FastifyInstance } from 'fastify'

/**
 * Returns the URL of a request without the path of PUBLIC_URL ("/mail", or empty). Some proxies take it off themselves, and health checks do not
 * have it: a URL without it stays as it is.
 */
export function withoutPublicPath(url: string, publicPath: string): string {
  if (publicPath === '' || !url.startsWith(publicPath)) return url
  const rest = url.slice(publicPath.length)
  if (rest.startsWith('/')) return rest
  return rest === '' || rest.startsWith('?') ? `/${rest}` : url
}

/** Adds the path of PUBLIC_URL to redirects within the service. Pages get it in `render` of @postrider/ui. */
export function addPublicPath(app: FastifyInstance, publicPath: string): void {
  if (publicPath === '') return
  app.addHook('onSend', async (_request, reply) => {
    const location = reply.getHeader('location')
    if (typeof location === 'string' && /^\/(?!\/)/.test(location)) reply.header('location', `${publicPath}${location}`)
  })
}

import { type Config, type Core, NetworkList } from '@postrider/core'
import type { FastifyInstance } from 'fastify'

/** The loopback interface, from which a proxy on the same host asks. */
const LOOPBACK = ['127.0.0.0/8', '::1/128']

/** Fields that proxies add to what they pass on; their own question has none of them. */
const PASSED_ON = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via']

/**
 * GET /tls/ask?domain=HOST: whether a proxy should get a certificate for a host, as Caddy asks before it gets one on demand. 200 for a tracking host whose
 * record points here, otherwise 404. To others than the proxy itself, which is on this host or in TRUST_PROXY, the path does not exist; what the proxy
 * passes on from others comes from the proxy, too, so it must not pass this path on.
 */
export async function tlsHosts(app: FastifyInstance, { core, config }: { core: Core; config: Config }): Promise<void> {
  const proxies = new NetworkList([...LOOPBACK, ...config.trustProxy])
  app.get<{ Querystring: { domain?: unknown } }>('/tls/ask', { schema: { hide: true } }, async (request, reply) => {
    const { domain } = request.query
    const isPassedOn = PASSED_ON.some((name) => request.headers[name] !== undefined)
    const asks = proxies.has(request.socket.remoteAddress ?? '') && !isPassedOn
    const isOurs = asks && typeof domain === 'string' && (await core.domains.isTrackingHost(domain))
    return reply.code(isOurs ? 200 : 404).send()
  })
}

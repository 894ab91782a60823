import type { Core } from '@postrider/core'
import type { FastifyInstance } from 'fastify'

export interface HealthOptions {
  readonly core: Core
  /** Whether the process is draining; a load balancer should then send new calls elsewhere. */
  readonly isStopping: () => boolean
}

/** GET /health/live and /health/ready, for load balancers and process supervisors. */
export async function health(app: FastifyInstance, { core, isStopping }: HealthOptions): Promise<void> {
  app.get('/health/live', async () => ({ status: 'live' }))
  app.get('/health/ready', async (_request, reply) => {
    const { ready, reasons } = core.readiness.current()
    if (ready && !isStopping()) return { status: 'ready' }
    return reply.code(503).send({ status: 'not ready', reasons: isStopping() ? ['the process is stopping'] : reasons })
  })
}

import { type HealthState, liveAnswer, readyAnswer } from '@postrider/core'
import type { FastifyInstance } from 'fastify'

/** GET /health, /health/live and /health/ready, for load balancers and process supervisors. */
export async function health(app: FastifyInstance, state: HealthState): Promise<void> {
  app.get('/health', async () => liveAnswer().body)
  app.get('/health/live', async () => liveAnswer().body)
  app.get('/health/ready', async (_request, reply) => {
    const { status, body } = readyAnswer(state)
    return reply.code(status).send(body)
  })
}

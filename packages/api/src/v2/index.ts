import { type ByteBudget, type Core, type Principal, plainAddress, ServiceError } from '@postrider/core'
import type { FastifyInstance, HTTPMethods } from 'fastify'
import { reserveBody } from '../body-budget.ts'
import { readBodies } from './bodies.ts'
import { type OperationGroup, sendFailure } from './envelope.ts'
import { sendEmailRoute } from './send-email.ts'

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal
  }
}

export interface V2Options {
  readonly core: Core
  readonly budget: ByteBudget
}

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Paths known to v2 and the methods each takes; any other method is 405. */
const PATHS: readonly { url: string; methods: readonly HTTPMethods[]; group: OperationGroup }[] = [
  { url: '/sendEmail', methods: ['POST'], group: 'SendEmail' },
]

/**
 * The v2 Web API. The outer scope owns the error shape, 404 and 405; the inner one the key, so that 404 and 405 come first
 * (contract section 3: 404/405, 100, 101, 102, 115, then the body).
 */
export async function v2(app: FastifyInstance, { core, budget }: V2Options): Promise<void> {
  app.setErrorHandler(sendFailure)
  app.setNotFoundHandler((request, reply) => sendFailure(new ServiceError('notFound'), request, reply))
  for (const { url, methods, group } of PATHS) {
    app.route({
      url,
      method: METHODS.filter((method) => !methods.includes(method)),
      config: { group, allow: methods.join(', ') },
      handler: async () => {
        throw new ServiceError('methodNotAllowed')
      },
    })
  }
  await app.register(async (inner) => {
    inner.addHook('onRequest', async (request, reply) => {
      const key = request.headers.api_key
      request.principal = await core.auth.authenticate(Array.isArray(key) ? key[0] : key, plainAddress(request.ip))
      reserveBody(budget, request, reply)
    })
    await readBodies(inner)
    await inner.register(sendEmailRoute, { core })
  })
}

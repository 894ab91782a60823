import type { Readable } from 'node:stream'
import { ServiceError } from '@postrider/core'
import type { FastifyInstance } from 'fastify'
import type { EntryPointOptions } from '../entry-points.ts'
import { reserveAsItComes, reserveBody } from '../http/body-budget.ts'
import { clientAddress } from '../http/client-address.ts'
import { methodOf, refuseOtherMethods, unreachable } from '../http/known-paths.ts'
import { keepRate } from '../http/rate-headers.ts'
import { countBytes, isZipped, unzipped } from '../http/zipped.ts'
import { answerLargeCalls } from '../large-calls/index.ts'
import { bearerOf } from './bearer.ts'
import { BODY_LIMIT, readJson, requireReadable } from './bodies.ts'
import { corsHeaders, sayPreflight } from './cors.ts'
import type { Operation } from './operation.ts'
import { operationRoutes, PATHS, requireAllowedFor } from './operations.ts'
import { sendRefusal } from './refusal.ts'

/**
 * The v3 Web API. The outer scope handles the error format, 404, 405 and CORS; the inner one checks the key. The order of checks
 * is the contract's (2.4): method, key, content type, size, UTF-8, JSON, then the operation.
 */
export async function v3(app: FastifyInstance, { core, publicUrl, entrance, letIn }: EntryPointOptions): Promise<void> {
  const setCorsHeaders = corsHeaders(publicUrl)
  app.setErrorHandler(sendRefusal)
  app.setNotFoundHandler(unreachable)
  // A hook rather than handlers, which run only after the body was read.
  app.addHook('onRequest', async (request, reply) => {
    const { allow, sends = false } = request.routeOptions.config
    setCorsHeaders(reply, sends)
    if (allow === undefined) return
    if (methodOf(request) !== 'OPTIONS') throw new ServiceError('methodNotAllowed')
    sayPreflight(reply, sends)
    await reply.code(204).header('allow', allow).send()
  })
  refuseOtherMethods(app, PATHS, ({ sends }) => ({ sends }))
  await app.register(async (inner) => {
    inner.addHook('onRequest', async (request, reply) => {
      if (letIn) request.principal = letIn()
      if (!entrance) return
      if (entrance.isStopping()) throw new ServiceError('notReady', { reason: 'the process is stopping' })
      const operation = request.routeOptions.config.v3 as Operation
      const onBehalfOf = one(request.headers['on-behalf-of'])
      request.principal = await core.auth.authenticate(bearerOf(request), clientAddress(request), onBehalfOf)
      const { calls, sends } = request.principal.rates
      await keepRate(core.rateLimits, operation.sends ? sends : calls, reply, operation.sends)
      requireAllowedFor(operation, core, request.principal)
      requireReadable(request)
      reserveBody(entrance.budget, request, reply, BODY_LIMIT)
    })
    inner.addHook('preParsing', async (request, reply, payload) => {
      if (!entrance) return payload
      const { budget } = entrance
      const received = payload as Readable
      if (isZipped(request)) {
        const plain = unzipped(
          received,
          () => BODY_LIMIT,
          () => new ServiceError('tooLarge'),
        )
        return countBytes(received, reserveAsItComes(budget, request, reply, plain))
      }
      return request.headers['transfer-encoding'] === undefined
        ? payload
        : reserveAsItComes(budget, request, reply, received)
    })
    readJson(inner, entrance !== undefined)
    if (entrance) answerLargeCalls(inner, entrance.largeCalls, sendRefusal)
    await inner.register(operationRoutes, { core, publicUrl })
  })
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

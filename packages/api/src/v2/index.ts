import type { Readable } from 'node:stream'
import { type Principal, ServiceError } from '@postrider/core'
import type { FastifyInstance, HTTPMethods } from 'fastify'
import type { EntryPointOptions } from '../entry-points.ts'
import { reserveAsItComes, reserveBody, reserveStream } from '../http/body-budget.ts'
import { clientAddress } from '../http/client-address.ts'
import { type KnownPath, refuseOtherMethods } from '../http/known-paths.ts'
import { keepRate } from '../http/rate-headers.ts'
import { countBytes } from '../http/zipped.ts'
import { answerLargeCalls } from '../large-calls/index.ts'
import { readBodies } from './body/bodies.ts'
import { plainBody } from './body/unreadable.ts'
import { type OperationGroup, sendFailure } from './envelope.ts'
import { OPERATIONS, operationRoutes } from './operations.ts'

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal
  }
}

interface Path extends KnownPath {
  readonly group: OperationGroup
  readonly methods: HTTPMethods[]
}

/** v2 paths and the methods each accepts; any other method returns 405. */
const PATHS: readonly Path[] = knownPaths()

function knownPaths(): Path[] {
  const paths = new Map<string, Path>()
  for (const { routes, group } of OPERATIONS) {
    for (const [url, ...methods] of routes) {
      const path = paths.get(url) ?? { url, group, methods: [] }
      path.methods.push(...methods)
      paths.set(url, path)
    }
  }
  // HEAD is GET without the body (RFC 9110 9.3.2).
  for (const { methods } of paths.values()) if (methods.includes('GET')) methods.push('HEAD')
  return [...paths.values()]
}

/**
 * The v2 Web API. The outer scope handles the error format, 404 and 405; the inner one checks the key, so that 404 and 405 come
 * first (contract section 3: 404/405, 100, 101, 102, 115, then the body).
 */
export async function v2(app: FastifyInstance, { core, entrance, letIn }: EntryPointOptions): Promise<void> {
  app.setErrorHandler(sendFailure)
  // A hook rather than handlers, which run only after the body was read.
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.allow !== undefined) throw new ServiceError('methodNotAllowed')
  })
  refuseOtherMethods(app, PATHS, ({ group }) => ({ group }))
  await app.register(async (inner) => {
    inner.addHook('onRequest', async (request, reply) => {
      if (letIn) request.principal = letIn()
      if (!entrance) return
      if (entrance.isStopping()) throw new ServiceError('notReady', { reason: 'the process is stopping' })
      const key = request.headers.api_key
      const onBehalfOf = request.headers['on-behalf-of']
      request.principal = await core.auth.authenticate(
        Array.isArray(key) ? key[0] : key,
        clientAddress(request),
        Array.isArray(onBehalfOf) ? onBehalfOf[0] : onBehalfOf,
      )
      const { calls, sends } = request.principal.rates
      const { operation } = request.routeOptions.config
      await keepRate(core.rateLimits, operation?.submits || operation?.sends ? sends : calls, reply)
      if (operation?.takes) reserveStream(entrance.budget, request, reply)
      else reserveBody(entrance.budget, request, reply, operation?.takesMany)
    })
    inner.addHook('preParsing', async (request, reply, payload) => {
      if (!entrance) return payload
      const received = payload as Readable
      const plain = plainBody(request, received)
      const isStreamed = request.routeOptions.config.operation?.takes !== undefined
      if (!plain && (isStreamed || request.headers['transfer-encoding'] === undefined)) return received
      if (plain && isStreamed) return plain
      const reserved = reserveAsItComes(entrance.budget, request, reply, plain ?? received)
      return plain ? countBytes(received, reserved) : reserved
    })
    await readBodies(inner, entrance !== undefined)
    if (entrance) answerLargeCalls(inner, entrance.largeCalls, sendFailure)
    await inner.register(operationRoutes, { core })
  })
}

import {
  type Config,
  type Core,
  createFairTurns,
  NetworkList,
  plainAddress,
  type Rate,
  ServiceError,
} from '@postrider/core'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { clientAddress } from '../http/client-address.ts'
import { type KnownPath, refuseOtherMethods, unreachable } from '../http/known-paths.ts'
import { keepRate } from '../http/rate-headers.ts'
import { sendFailure } from '../v2/envelope.ts'
import { inputOf, readBodies, requireJson } from './input.ts'
import type { Operation } from './operation.ts'
import { OPERATIONS } from './operations.ts'
import { BODY_LIMIT, sendOperatorRefusal } from './refusal.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Id of the operator key. */
    operatorKeyId: number
  }
}

/** Calls per minute of one operator key. */
const CALLS_PER_MINUTE = 600
/** Reads of the whole queue take up to some seconds, so they must not use all connections to the database. */
const TURNS = { capacity: 2, waiting: 20, each: 20 } as const

export interface OperatorOptions {
  readonly core: Core
  readonly config: Config
  /** Whether the process is draining and accepts no new calls. */
  readonly isStopping: () => boolean
}

/**
 * The operator's interface. To a client outside OPERATOR_NETWORKS it does not exist: every path gets the 404 of an unknown one, before the method,
 * key or body is looked at.
 */
export async function operator(app: FastifyInstance, { core, config, isStopping }: OperatorOptions): Promise<void> {
  const networks = new NetworkList(config.operatorNetworks)
  const turns = createFairTurns(TURNS)
  const isForeign = (request: FastifyRequest) => hasUnknownOrigin(request) || !networks.has(clientAddress(request))
  app.decorateRequest('operatorKeyId', 0)
  app.setErrorHandler((error, request, reply) =>
    isForeign(request)
      ? sendFailure(new ServiceError('notFound'), request, reply)
      : sendOperatorRefusal(error as Error, request, reply),
  )
  app.setNotFoundHandler(unreachable)
  app.addHook('onRequest', async (request) => {
    if (isForeign(request)) throw new ServiceError('notFound')
    if (request.routeOptions.config.allow !== undefined) throw new ServiceError('methodNotAllowed')
    if (isStopping()) throw new ServiceError('notReady', { reason: 'the process is stopping' })
  })
  refuseOtherMethods(app, pathsOf(OPERATIONS))
  await app.register(async (inner) => {
    inner.addHook('onRequest', async (request, reply) => {
      const { id } = await core.auth.authenticateOperator(bearerOf(request), clientAddress(request))
      request.operatorKeyId = id
      await keepRate(core.rateLimits, [rateOf(id)], reply)
      requireJson(request)
    })
    readBodies(inner)
    const answer = (operation: Operation, request: FastifyRequest) => {
      const input = inputOf(operation, request)
      const by = { keyId: request.operatorKeyId, address: clientAddress(request) }
      return turns.take('operator', () => operation.act(input, { core, config, by }))
    }
    for (const operation of OPERATIONS) {
      const { method, path: url } = operation
      const handler = async (request: FastifyRequest, reply: FastifyReply) =>
        reply.send((await answer(operation, request)) as object)
      inner.route({ method, url, bodyLimit: BODY_LIMIT, config: { operator: operation }, handler })
    }
  })
}

/**
 * Whether a proxy forwarded the call that is not in TRUST_PROXY. The address of the socket is then the proxy's, often a loopback address, and that
 * of the client is unknown.
 */
function hasUnknownOrigin(request: FastifyRequest): boolean {
  const { headers, socket } = request
  const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined
  return isForwarded && clientAddress(request) === plainAddress(socket.remoteAddress ?? '')
}

function rateOf(keyId: number): Rate {
  return {
    name: `operator ${keyId}`,
    what: 'calls per minute for this operator key',
    limit: CALLS_PER_MINUTE,
    seconds: 60,
  }
}

function pathsOf(operations: readonly Operation[]): KnownPath[] {
  return [...Map.groupBy(operations, ({ path }) => path)].map(([url, those]) => {
    const methods: HTTPMethods[] = those.map(({ method }) => method)
    // HEAD is GET without the body (RFC 9110 9.3.2).
    return { url, methods: methods.includes('GET') ? [...methods, 'HEAD'] : methods }
  })
}

/** Returns the key of `Authorization: Bearer` (RFC 6750 2.1); undefined for any other scheme. */
function bearerOf({ headers }: FastifyRequest): string | undefined {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
}

import { BeyondShare, databaseRefusal, ServiceError } from '@postrider/core'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { LARGE_BODY } from '../http/large-body.ts'
import { JsonError } from '../http/strict-json.ts'

/** Codes of JSON-RPC. */
const SERVER_ERROR = -32000
const PARSE_ERROR = -32700

/** An error of a call that reached no tool. */
export class McpRefusal extends Error {
  readonly status: number
  readonly code: number

  constructor(status: number, code: number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** Error handler: a JSON-RPC error with the status of HTTP. Errors that are not known become a generic 500. */
export function sendMcpRefusal(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = asRefusal(error)
  if (refusal instanceof ServiceError && refusal.errorName !== 'internal')
    request.log.info({ refusal: refusal.errorName, reason: refusal.reason }, 'request rejected')
  else if (refusal instanceof ServiceError) request.log.error({ err: error, route: '/mcp' }, 'internal error')
  if (refusal instanceof McpRefusal) return void send(reply, refusal)
  const { row, message, retryAfter } = refusal
  const wait = retryAfter ?? (row.status === 503 ? 1 : undefined)
  if (wait !== undefined) reply.header('retry-after', String(wait))
  if (row.status === 405) reply.header('allow', 'POST')
  // Without metadata of a server that gives tokens (RFC 9728): only keys are accepted.
  if (row.status === 401) reply.header('www-authenticate', 'Bearer realm="Postrider API key"')
  send(reply, { status: row.status ?? 400, code: SERVER_ERROR, message })
}

function send(reply: FastifyReply, { status, code, message }: Pick<McpRefusal, 'status' | 'code' | 'message'>): void {
  reply.code(status).send({ jsonrpc: '2.0', id: null, error: { code, message } })
}

function asRefusal(error: FastifyError | Error): ServiceError | McpRefusal {
  if (error instanceof ServiceError || error instanceof McpRefusal) return error
  if (error instanceof JsonError) return new McpRefusal(400, PARSE_ERROR, error.message)
  if (error instanceof BeyondShare) return new McpRefusal(413, SERVER_ERROR, 'the body has too many values')
  const { code, statusCode = 0 } = error as FastifyError
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new ServiceError('tooLarge', { values: { limit: `${LARGE_BODY / 1024} kB` } })
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return new McpRefusal(415, SERVER_ERROR, 'Content-Type must be application/json')
  if (statusCode >= 400 && statusCode < 500) return new McpRefusal(statusCode, PARSE_ERROR, 'the body cannot be read')
  return databaseRefusal(error, { changes: false }) ?? new ServiceError('internal')
}

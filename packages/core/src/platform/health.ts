import { createServer, type Server } from 'node:http'
import type { Readiness } from './readiness.ts'

/** The answer to a health check over HTTP, as JSON. */
export interface HealthAnswer {
  readonly status: 200 | 503
  readonly body: { readonly status: string; readonly reasons?: readonly string[] }
}

export interface HealthState {
  /** As the process knows it; no check waits for the database. */
  readonly readiness: () => Readiness
  /** Whether the process is draining; a load balancer should then send new calls elsewhere. */
  readonly isStopping: () => boolean
}

/** GET /health/live: the main loop runs. */
export const LIVE: HealthAnswer = { status: 200, body: { status: 'live' } }

/** GET /health/ready: the process does its work; otherwise the reasons, for the operator. */
export function readyAnswer({ readiness, isStopping }: HealthState): HealthAnswer {
  const { ready, reasons } = readiness()
  if (ready && !isStopping()) return { status: 200, body: { status: 'ready' } }
  return { status: 503, body: { status: 'not ready', reasons: isStopping() ? ['the process is stopping'] : reasons } }
}

export interface HealthServerOptions extends HealthState {
  readonly host: string
  readonly port: number
}

/** Connections of one health server; a check opens one. */
const MAX_CONNECTIONS = 100

/**
 * Serves `/health/live` and `/health/ready` for a process that has no HTTP port otherwise. Closes each connection after its response.
 * Rejects if the port is in use.
 */
export async function serveHealth({ host, port, ...state }: HealthServerOptions): Promise<Server> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, ({ method, url }, response) => {
    const path = url?.split('?', 1)[0]
    const isRead = method === 'GET' || method === 'HEAD'
    const answer =
      isRead && path === '/health/ready' ? readyAnswer(state) : isRead && path === '/health/live' ? LIVE : NOT_FOUND
    const body = JSON.stringify(answer.body)
    const length = Buffer.byteLength(body)
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      'content-length': length,
      connection: 'close',
    })
    response.end(body)
  })
  server.maxConnections = MAX_CONNECTIONS
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, resolve)
  })
  // It keeps no process alive.
  return server.unref()
}

const NOT_FOUND = { status: 404, body: { status: 'not found' } } as const

import { createServer, type Server } from 'node:http'
import { type ListenTarget, listen } from './listening-sockets.ts'

export interface PlainAnswer {
  readonly status: number
  readonly type: string
  readonly text: string
}

export interface PlainHttpOptions {
  readonly target: ListenTarget
  /** Answers GET and HEAD of a path, which is without its query. Undefined: 404. */
  readonly answer: (path: string) => PlainAnswer | undefined | Promise<PlainAnswer | undefined>
}

/** Connections at once; each carries one request. */
const MAX_CONNECTIONS = 100

/**
 * Serves health checks and metrics to the programs that watch this process, on a port of its own. Closes each connection after its response.
 * Rejects if the port is in use.
 */
export async function servePlainHttp({ target, answer }: PlainHttpOptions): Promise<Server> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, async (request, response) => {
    const { method, url = '' } = request
    const isRead = method === 'GET' || method === 'HEAD'
    const found = isRead ? await answer(url.split('?', 1)[0] ?? '') : undefined
    const { status, type, text } = found ?? NOT_FOUND
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(text), connection: 'close' }
    response.writeHead(status, headers).end(text)
  })
  server.maxConnections = MAX_CONNECTIONS
  await listen(server, target)
  // It keeps no process alive.
  return server.unref()
}

const NOT_FOUND = { status: 404, type: 'application/json', text: JSON.stringify({ status: 'not found' }) } as const

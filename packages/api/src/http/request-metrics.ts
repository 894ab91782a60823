import { type ByteBudget, count, measure, observe } from '@postrider/core'
import type { FastifyInstance } from 'fastify'

const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const
/** The first part of a path, as metrics name it. */
const SURFACES = {
  v2: 'v2',
  'v2.1': 'v2',
  v3: 'v3',
  operator: 'operator',
  app: 'dashboard',
  t: 'tracking',
  docs: 'docs',
  health: 'health',
} as const
type Surface = (typeof SURFACES)[keyof typeof SURFACES] | 'other'

/** Counts responses and their durations. A connection that the client closed before the response counts with the status that it would have got. */
export function measureRequests(app: FastifyInstance, budget: ByteBudget): void {
  app.addHook('onResponse', (request, reply, done) => {
    // The pattern of the route, not what the client wrote; undefined if there is none.
    const surface = surfaceOf(request.routeOptions.url)
    count('http_requests_total', {
      surface,
      status_class: STATUS_CLASSES[Math.floor(reply.statusCode / 100) - 2] ?? '5xx',
    })
    observe('http_request_seconds', reply.elapsedTime / 1000, { surface })
    done()
  })
  let connections = 0
  app.server.on('connection', (socket) => {
    connections++
    socket.once('close', () => connections--)
  })
  const forget = measure(() => ({
    http_connections: connections,
    body_bytes: budget.used,
    body_limit_bytes: budget.total,
  }))
  app.addHook('onClose', async () => forget())
}

function surfaceOf(route = ''): Surface {
  const [, first = ''] = route.split('/', 2)
  return SURFACES[first as keyof typeof SURFACES] ?? 'other'
}

import type { FastifyInstance } from 'fastify'
import type { Watchers } from './watchers.ts'

/** Maximum number of open pages. Beyond it a page is not live, and says so. */
const MAX_STREAMS = 50
/** Pages count the seconds since the last one. */
const BEAT_MS = 4000
/** Least milliseconds between two notices. */
const NOTICE_MS = 300
/** Milliseconds within which a page connects after it was built. A change in between is not in the page, and no other notice of it comes. */
const CONNECT_MS = 5000

/** The stream that tells open pages that the inbox changed (server-sent events, HTML 9.2). It carries no data: a page fetches itself again. */
export function openLive(app: FastifyInstance, watchers: Watchers): void {
  app.get('/live', { exposeHeadRoute: false }, (_request, reply) => {
    if (watchers.count >= MAX_STREAMS) return reply.code(503).header('retry-after', '30').send('')
    reply.hijack()
    const { raw } = reply
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'",
    })
    raw.write('retry: 2000\n\nevent: beat\ndata:\n\n')
    let notice: NodeJS.Timeout | undefined
    const onChange = () => {
      notice ??= setTimeout(() => {
        notice = undefined
        raw.write('event: changed\ndata:\n\n')
      }, NOTICE_MS)
    }
    const timer = setInterval(() => raw.write('event: beat\ndata:\n\n'), BEAT_MS)
    watchers.add(onChange)
    if (watchers.changedWithin(CONNECT_MS)) onChange()
    raw.on('close', () => {
      clearInterval(timer)
      clearTimeout(notice)
      watchers.remove(onChange)
    })
    return reply
  })
}

import type { Core } from '@postrider/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findVisitor, type SessionCookie } from '../frame/visitor.ts'
import { createBeats } from './beats.ts'
import { createRefreshPace } from './refresh-pace.ts'

export interface LiveOptions {
  readonly core: Core
  readonly sessionCookie: SessionCookie
  readonly draining: AbortSignal
}

/** Maximum number of streams of a process. Beyond it a page is not live, and says so. */
const MAX_STREAMS = 500
/** Maximum number of streams of a visitor, who may have several tabs. */
const MAX_PER_VISITOR = 12
/** A browser that does not read what it is sent has this much of it waiting before the stream is closed. */
const MAX_WAITING_BYTES = 64 * 1024

/**
 * The streams that tell open pages that something changed (server-sent events, HTML 9.2). They carry no data: a page that is told so asks for
 * itself again, with the visitor's rights of that moment.
 */
export function openLive(app: FastifyInstance, { core, sessionCookie, draining }: LiveOptions): void {
  const streams = new Map<string, number>()
  const pace = createRefreshPace()
  const beats = createBeats()
  let count = 0

  async function open(request: FastifyRequest, reply: FastifyReply, accountId: number | undefined): Promise<unknown> {
    const visitor = await findVisitor(core, sessionCookie, request, { isPerson: false })
    if (!visitor || (accountId !== undefined && !visitor.accounts.some(({ id }) => id === accountId)))
      return reply.code(404).send('')
    // The client may be gone already, and its connection would report no end of the stream.
    if (reply.raw.destroyed || request.raw.socket.destroyed) return reply.hijack()
    const who = String(visitor.user.id)
    const own = streams.get(who) ?? 0
    if (draining.aborted || count >= MAX_STREAMS || own >= MAX_PER_VISITOR) {
      return reply.code(503).header('retry-after', '30').send('')
    }
    reply.hijack()
    count++
    streams.set(who, own + 1)
    const { raw } = reply
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    })
    const tell = (event: string) => {
      // A write after the end would be an error that nothing handles, and end the process.
      if (raw.writableEnded || raw.destroyed) return
      if (raw.writableLength > MAX_WAITING_BYTES) raw.destroy()
      else raw.write(`event: ${event}\ndata:\n\n`)
    }
    const refresh = () => tell('changed')
    const followsClock = accountId === undefined || (request.query as { clock?: unknown }).clock === '1'
    raw.write('retry: 2000\n\n')
    tell('beat')
    const leave =
      accountId === undefined
        ? undefined
        : core.events.subscribe({ accountId, after: afterOf(request), onEvents: () => pace.tellSoon(refresh) })
    const endBeats = beats.follow(visitor.user.id, () => void beat())
    const end = () => raw.end()
    draining.addEventListener('abort', end)
    raw.on('close', () => {
      endBeats()
      leave?.()
      pace.forget(refresh)
      draining.removeEventListener('abort', end)
      count--
      const left = (streams.get(who) ?? 1) - 1
      if (left === 0) streams.delete(who)
      else streams.set(who, left)
    })

    async function beat(): Promise<void> {
      try {
        const still = await findVisitor(core, sessionCookie, request, { isPerson: false })
        const isMember = accountId === undefined || still?.accounts.some(({ id }) => id === accountId)
        if (!still || !isMember) {
          tell('ended')
          return void raw.end()
        }
        // A page that waits for its turn to refresh is not as of now.
        tell(pace.isWaiting(refresh) ? 'behind' : 'beat')
        if (followsClock) pace.tellSoon(refresh)
      } catch {
        // The database does not respond. The page sees no beat, and says that it is not live.
      }
    }
    return reply
  }

  app.get<{ Params: { account: string } }>('/:account/live', { exposeHeadRoute: false }, (request, reply) =>
    open(request, reply, Number(request.params.account)),
  )
  app.get('/live', { exposeHeadRoute: false }, (request, reply) => open(request, reply, undefined))
}

/** The number of the account's last event when the page was built. */
function afterOf({ query }: FastifyRequest): number {
  const after = Number((query as { after?: unknown }).after)
  return Number.isSafeInteger(after) && after >= 0 ? after : 0
}

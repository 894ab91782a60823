import { BeyondShare, type Config, inTurns, type Log, ServiceError } from '@postrider/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { presentAgent } from '../agent.ts'
import { clientAddress } from '../http/client-address.ts'
import { LargeBody } from '../http/large-body.ts'
import { type LargeThread, startLargeThread } from './large-thread.ts'
import type { LargeAnswer, LargeCall, Report } from './messages.ts'
import { LargeCallQueue } from './queue.ts'
import { weigh } from './weigh.ts'

/** Milliseconds after which an idle thread, which uses some 60 MB, is ended. */
const IDLE_MS = 60_000
/** Milliseconds a thread has to close its database connections. */
const CLOSE_TIMEOUT_MS = 5000

export interface LargeCalls {
  /** Returns the response that the entry points would give in this thread. Throws tooCostly, overloaded. */
  answer(call: LargeCall): Promise<LargeAnswer>
  /** Ends the thread. Must be called when no call is in progress. */
  close(): Promise<void>
}

interface Pending {
  readonly accountId: number
  readonly weight: number
  readonly id: number
  readonly call: LargeCall
  readonly settle: PromiseWithResolvers<LargeAnswer>
}

interface Running {
  readonly thread: LargeThread
  ready: boolean
  readonly gone: PromiseWithResolvers<void>
}

/**
 * Processes calls with large bodies in a separate thread, so that parsing, validating and storing them does not delay other
 * calls. A call that takes too much processor time or memory ends the thread and not the process. The thread starts with the
 * first such call.
 */
export function createLargeCalls({ config, log }: { config: Config; log: Log }): LargeCalls {
  const queue = new LargeCallQueue<Pending>()
  let running: Running | undefined
  let idle: NodeJS.Timeout | undefined
  let lastId = 0

  function serve(): void {
    clearTimeout(idle)
    running ??= start()
    const { thread, ready } = running
    if (!ready) return
    for (let next = queue.next(); next; next = queue.next()) {
      const { id, call, weight } = next
      thread.send({ kind: 'call', id, call, weight }, [call.octets.buffer as ArrayBuffer])
    }
    thread.setBusy(queue.inFlight.size > 0)
    if (queue.inFlight.size === 0) idle = setTimeout(() => void close(), IDLE_MS).unref()
  }

  function start(): Running {
    const started: Running = {
      thread: startLargeThread({ config, onReport, onEnd }),
      ready: false,
      gone: Promise.withResolvers(),
    }
    function onEnd({ exceeded, cause }: { readonly exceeded: boolean; readonly cause?: unknown }): void {
      started.gone.resolve()
      if (running !== started) return
      running = undefined
      log.error({ err: cause, exceeded }, 'large-call thread lost')
      refuseAll(exceeded)
      // A thread that fails to start is not restarted in a loop: the next call tries again.
      if (!started.ready) for (const waiting of queue.clear()) waiting.settle.reject(lost())
      else if (queue.isWaiting) serve()
    }
    return started
  }

  function onReport(report: Report): void {
    if (report.kind === 'ready' && running) running.ready = true
    if (report.kind === 'answer' || report.kind === 'failed') {
      const pending = [...queue.inFlight].find(({ id }) => id === report.id)
      if (pending) queue.done(pending)
      if (report.kind === 'answer') pending?.settle.resolve(report.answer)
      else pending?.settle.reject(new Error('large-call thread returned no response'))
    }
    if (report.kind !== 'seen') serve()
  }

  /** If several calls were in progress, it is unknown which one ended the thread. As with any 503, they may have been stored. */
  function refuseAll(exceeded: boolean): void {
    const pending = queue.lose()
    const alone = exceeded && pending.length === 1
    for (const one of pending) one.settle.reject(alone ? new ServiceError('tooCostly') : lost())
  }

  async function close(): Promise<void> {
    clearTimeout(idle)
    const closing = running
    running = undefined
    if (!closing) return
    closing.thread.send({ kind: 'close' })
    const patience = setTimeout(() => void closing.thread.stop(), CLOSE_TIMEOUT_MS)
    await closing.gone.promise
    clearTimeout(patience)
  }

  return {
    async answer(call) {
      const weight = await inTurns(weigh(call.octets))
      const settle = Promise.withResolvers<LargeAnswer>()
      queue.add({ accountId: call.principal.account.id, weight, id: ++lastId, call, settle })
      serve()
      return settle.promise
    },
    close,
  }
}

function lost(): ServiceError {
  return new ServiceError('overloaded', { reason: 'large-call thread lost' })
}

/**
 * Headers that describe this connection, or that the thread determines itself (RFC 9110 7.6.1). The body was decompressed when it
 * was read.
 */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'expect',
  'date',
  'upgrade',
  'te',
  'trailer',
])

type Refuse = (error: Error, request: FastifyRequest, reply: FastifyReply) => void

/**
 * Passes calls to the thread if their body was set aside or if they proved too expensive for the main thread, and sends the
 * thread's responses to the clients. `refuse` handles every other error.
 */
export function answerLargeCalls(app: FastifyInstance, largeCalls: LargeCalls, refuse: Refuse): void {
  async function handOn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { octets = new Uint8Array(0), principal, method, url } = request
    // Transferring a buffer moves all of the memory it is a part of.
    const alone = octets.byteLength === octets.buffer.byteLength ? octets : new Uint8Array(octets)
    const headers = withoutOwn(request.headers)
    const from = { principal, address: clientAddress(request), agent: presentAgent() }
    const call = { ...from, method, url, headers, octets: alone }
    const answer = await largeCalls.answer(call)
    reply.code(answer.status).headers(withoutOwn(answer.headers))
    return answer.octets.length === 0 ? reply.send() : reply.send(Buffer.from(answer.octets.buffer))
  }
  // A callback rather than a promise, since every call passes here.
  app.addHook('preValidation', (request, reply, done) => {
    if (!(request.body instanceof LargeBody)) return done()
    handOn(request, reply).catch(done)
  })
  app.setErrorHandler((error: Error, request, reply) => {
    if (!(error instanceof BeyondShare)) return refuse(error, request, reply)
    handOn(request, reply).catch((failure: Error) => refuse(failure, request, reply))
  })
}

function withoutOwn<T>(headers: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.has(name)))
}

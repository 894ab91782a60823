import { AsyncLocalStorage } from 'node:async_hooks'
import { getHeapStatistics } from 'node:v8'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import {
  createCore,
  createLog,
  forwardMetrics,
  forwardSpans,
  garbageCollector,
  keyMark,
  loadSecrets,
  openDatabase,
  POOL_SIZES,
  type Principal,
  RELEASE_FROM_BYTES,
  requireDatabase,
} from '@postrider/core'
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import { asAgent } from './agent.ts'
import { FRAME } from './entry-points.ts'
import type { LargeAnswer, LargeCall, Order, Report, Start } from './large-calls/messages.ts'
import { registerEntryPoints } from './register-entry-points.ts'

/**
 * Bytes of heap and buffers above which memory is released although the call was light: one that uses a large stored template or
 * file. Without calls they are some 45 MB.
 */
const GROWN_BYTES = 96 * 1024 * 1024

/**
 * Main function of the thread for large calls: it serves the API's entry points for calls that the process has admitted. It has
 * its own database connections, as another process would, and shares nothing else.
 */
async function serve(): Promise<void> {
  const port = parentPort
  if (isMainThread || !port) return
  const { config } = workerData as Start
  const log = createLog('api', config.logLevel, config.logFormat)
  if (config.metricsPort !== undefined) forwardMetrics()
  if (config.tracing) forwardSpans(config.tracing)
  const sql = openDatabase({
    url: requireDatabase(config),
    name: 'api',
    connections: POOL_SIZES.largeCalls,
    keyMark: keyMark(loadSecrets(config)),
  })
  const core = createCore({ sql, config, log })
  await core.readiness.check()
  const { collect, release } = garbageCollector()
  const caller = new AsyncLocalStorage<Principal>()
  const app = Fastify({
    ...FRAME,
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
  })
  // The parser leaves the text of the body, which with one wide letter is twice as long as the body.
  app.addHook('preValidation', (request, _reply, done) => {
    if ((request.octets?.length ?? 0) >= RELEASE_FROM_BYTES) collect()
    done()
  })
  app.decorate('draining', new AbortController().signal)
  await registerEntryPoints(app, { core, publicUrl: config.publicUrl, letIn: () => caller.getStore() as Principal })
  await app.ready()

  const say = (report: Report, transfer: ArrayBuffer[] = []): void => port.postMessage(report, transfer)
  async function answer({ wantsValue, ...asked }: LargeCall): Promise<LargeAnswer> {
    const { principal, address, agent, method, url, headers, octets } = asked
    const payload = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)
    const call = { method: method as 'POST', url, headers, payload, remoteAddress: address }
    const {
      statusCode: status,
      headers: told,
      rawPayload,
    } = await caller.run(principal, () => asAgent(agent, () => app.inject(call)))
    if (wantsValue)
      return { status, headers: told, octets: new Uint8Array(0), value: JSON.parse(rawPayload.toString()) }
    return { status, headers: told, octets: new Uint8Array(rawPayload) }
  }
  port.on('message', (order: Order) => {
    if (order.kind === 'look') say({ kind: 'seen', cpu: cpuUsed() })
    else if (order.kind === 'close')
      void app
        .close()
        .then(core.close)
        .then(() => port.close())
    else {
      const { id, call, weight } = order
      const finished = answer(call).then(
        (answer) => say({ kind: 'answer', id, answer, cpu: cpuUsed() }, [answer.octets.buffer as ArrayBuffer]),
        (err: unknown) => {
          log.error({ err }, 'internal error')
          say({ kind: 'failed', id, cpu: cpuUsed() })
        },
      )
      void finished.then(() => {
        if (weight >= RELEASE_FROM_BYTES || memoryUsed() >= GROWN_BYTES) setImmediate(release)
      })
    }
  })
  say({ kind: 'ready', cpu: cpuUsed() })
}

function memoryUsed(): number {
  const { total_heap_size: heap, external_memory: buffers } = getHeapStatistics()
  return heap + buffers
}

/** Returns the processor time used by this thread, in milliseconds. */
function cpuUsed(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

await serve()

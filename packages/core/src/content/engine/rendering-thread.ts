import { Worker } from 'node:worker_threads'
import { bareThread } from '../../platform/concurrency/bare-thread.ts'
import { type CheckedTemplate, type RenderedOctets, type RenderFailure, TOO_LONG, TOO_MUCH_MEMORY } from './template.ts'
import type { Order, Report } from './thread.ts'

/** Maximum processor time of one rendering in milliseconds (V26). */
const MAX_CPU_MS = 500
/** Maximum elapsed time of one rendering in milliseconds, however little processor time it got on a busy host. */
const MAX_ELAPSED_MS = 10_000
/** Milliseconds between two checks of a busy thread. */
const CHECK_INTERVAL = 100
/** Heap limits in megabytes (V26): 64 in total. */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 } as const

export interface Turn {
  /** In the order of the data; fewer than requested if the slot ended before. */
  readonly rendered: readonly RenderedOctets[]
  readonly checked?: CheckedTemplate
  readonly plain?: string
  /** Set if the thread had to be stopped at the next rendering; it must not be used again. */
  readonly stopped?: RenderFailure
}

/** A thread that runs one order at a time. */
export interface RenderingThread {
  /** Rejects only if the thread cannot be started or fails for a reason unrelated to the template. */
  serve(order: Order): Promise<Turn>
  stop(): Promise<void>
}

/** Starts a thread. It gets nothing of the environment ({@link bareThread}), and does not keep the process alive while it is idle. */
export function startRenderingThread(): RenderingThread {
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    ...bareThread(),
    name: 'template rendering',
    resourceLimits: HEAP_LIMITS,
  })
  const ready = Promise.withResolvers<void>()
  let current:
    | (Pick<Turn, 'checked' | 'plain'> & { rendered: RenderedOctets[]; settle: PromiseWithResolvers<Turn> })
    | undefined
  /** Processor time of the thread at the start of the current rendering. */
  let cpu = 0
  let began = 0

  function finish(stopped?: RenderFailure): void {
    const { settle, rendered = [], checked, plain } = current ?? {}
    current = undefined
    worker.unref()
    const given = { ...(checked && { checked }), ...(plain === undefined ? {} : { plain }) }
    settle?.resolve({ rendered, ...given, ...(stopped && { stopped }) })
  }
  function fail(cause: unknown): void {
    ready.reject(cause)
    current?.settle.reject(new Error('rendering thread failed', { cause }))
    current = undefined
  }
  worker.on('message', (report: Report) => {
    cpu = report.cpu
    began = performance.now()
    if (report.kind === 'ready') ready.resolve()
    else if (report.kind === 'rendered') current?.rendered.push(report.rendered)
    else {
      if (current && report.kind === 'checked') current = { ...current, checked: report.checked }
      if (current && report.kind === 'plain') current = { ...current, plain: report.plain }
      finish()
    }
  })
  worker.on('error', (error: Error & { code?: string }) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY' && current) finish(TOO_MUCH_MEMORY)
    else fail(error)
  })
  worker.on('exit', () => fail(new Error('the thread ended')))
  // No one may be waiting for it yet.
  ready.promise.catch(() => {})

  /** Stops a rendering that exceeds its limits. Elapsed time alone is not conclusive while others use the processor. */
  async function watch(): Promise<void> {
    const watched = current
    const [before, since] = [cpu, began]
    const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }))
    if (current !== watched || cpu !== before || began !== since) return
    if ((user + system) / 1000 - before <= MAX_CPU_MS && performance.now() - since <= MAX_ELAPSED_MS) return
    finish(TOO_LONG)
    await worker.terminate()
  }

  return {
    async serve(order) {
      worker.ref()
      await ready.promise
      const settle = Promise.withResolvers<Turn>()
      current = { rendered: [], settle }
      began = performance.now()
      const watchTimer = setInterval(() => void watch(), CHECK_INTERVAL)
      worker.postMessage(order)
      return settle.promise.finally(() => clearInterval(watchTimer))
    },
    async stop() {
      await worker.terminate()
    },
  }
}

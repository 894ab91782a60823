import { Worker } from 'node:worker_threads'
import { type CheckedTemplate, type RenderedOctets, type RenderFailure, TOO_LONG, TOO_MUCH_MEMORY } from './template.ts'
import type { Order, Report } from './thread.ts'

/** Milliseconds of computing one rendering may take (V26). */
const MOST_CPU = 500
/** Milliseconds on the clock, however little it got to compute: the host is busy, but nothing waits for ever. */
const LONGEST = 10_000
/** Milliseconds between two looks at a thread that is busy. */
const LOOK = 100
/** Megabytes of heap (V26): 64 together. */
const HEAP = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 } as const

export interface Turn {
  /** In the order of the data; fewer than were asked for when the turn was over before. */
  readonly rendered: readonly RenderedOctets[]
  readonly checked?: CheckedTemplate
  readonly plain?: string
  /** The thread had to be stopped at the rendering after those; it is not to be used again. */
  readonly stopped?: RenderFailure
}

/** One thread, which serves one order at a time. */
export interface RenderingThread {
  /** Rejects only when the thread cannot be started or broke for no reason of the template's. */
  serve(order: Order): Promise<Turn>
  stop(): Promise<void>
}

/** Starts a thread. It has no environment and no arguments, and keeps no process alive while it has nothing to do. */
export function startRenderingThread(): RenderingThread {
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    ...{ env: {}, argv: [], execArgv: [], name: 'template rendering', resourceLimits: HEAP },
  })
  const ready = Promise.withResolvers<void>()
  let current:
    | (Pick<Turn, 'checked' | 'plain'> & { rendered: RenderedOctets[]; settle: PromiseWithResolvers<Turn> })
    | undefined
  /** What it had computed when the rendering in hand began. */
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
    current?.settle.reject(new Error('a rendering thread broke', { cause }))
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
  // Nobody may have asked yet.
  ready.promise.catch(() => {})

  /** Stops a rendering that computes too long. Time on the clock alone says nothing where others want the processor. */
  async function watch(): Promise<void> {
    const watched = current
    const [before, since] = [cpu, began]
    const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }))
    if (current !== watched || cpu !== before || began !== since) return
    if ((user + system) / 1000 - before <= MOST_CPU && performance.now() - since <= LONGEST) return
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
      const watching = setInterval(() => void watch(), LOOK)
      worker.postMessage(order)
      return settle.promise.finally(() => clearInterval(watching))
    },
    async stop() {
      await worker.terminate()
    },
  }
}

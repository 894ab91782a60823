import { startWatchedThread, ThreadStopped, type WatchedThread } from '../../platform/concurrency/watched-thread.ts'
import { type CheckedTemplate, type RenderedOctets, type RenderFailure, TOO_LONG, TOO_MUCH_MEMORY } from './template.ts'
import type { Order, Report } from './thread.ts'

/** Maximum processor time of one rendering in milliseconds (V26). */
const MAX_CPU_MS = 500
/** Maximum elapsed time of one rendering in milliseconds, however little processor time it got on a busy host. */
const MAX_ELAPSED_MS = 10_000
/** Milliseconds between two checks of a busy thread. */
const CHECK_INTERVAL = 100
/** Megabytes of heap (V26): 64 in total, with what is new. */
const HEAP = 48

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

/** Starts a thread. It does not keep the process alive while it is idle. */
export function startRenderingThread(): RenderingThread {
  const ready = Promise.withResolvers<void>()
  let current:
    | (Pick<Turn, 'checked' | 'plain'> & { rendered: RenderedOctets[]; settle: PromiseWithResolvers<Turn> })
    | undefined

  function finish(stopped?: RenderFailure): void {
    const { settle, rendered = [], checked, plain } = current ?? {}
    current = undefined
    thread.setBusy(false)
    const given = { ...(checked && { checked }), ...(plain === undefined ? {} : { plain }) }
    settle?.resolve({ rendered, ...given, ...(stopped && { stopped }) })
  }
  function onReport(report: Report): void {
    if (report.kind === 'ready') ready.resolve()
    else if (report.kind === 'rendered') current?.rendered.push(report.rendered)
    else {
      if (current && report.kind === 'checked') current = { ...current, checked: report.checked }
      if (current && report.kind === 'plain') current = { ...current, plain: report.plain }
      finish()
    }
  }
  function onEnd(cause: Error): void {
    if (current && cause instanceof ThreadStopped)
      return void finish(cause.why === 'memory' ? TOO_MUCH_MEMORY : TOO_LONG)
    ready.reject(cause)
    current?.settle.reject(new Error('rendering thread failed', { cause }))
    current = undefined
  }
  const thread: WatchedThread<Order> = startWatchedThread<Order, Report>({
    name: 'template rendering',
    url: new URL('./thread.ts', import.meta.url),
    heap: HEAP,
    mostCpu: MAX_CPU_MS,
    longest: MAX_ELAPSED_MS,
    interval: CHECK_INTERVAL,
    onReport,
    onEnd,
  })
  // No one may be waiting for it yet.
  ready.promise.catch(() => {})

  return {
    async serve(order) {
      await ready.promise
      const settle = Promise.withResolvers<Turn>()
      current = { rendered: [], settle }
      thread.setBusy(true)
      thread.send(order)
      return settle.promise
    },
    stop: thread.stop,
  }
}

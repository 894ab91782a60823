import { Rotation } from '../../platform/concurrency/rotation.ts'
import { ServiceError } from '../../platform/errors.ts'
import { type Batch, failStopped, hasResult, newBatch, slotOf, type TemplateData, toText } from './batch.ts'
import type { CheckedTemplate, DynamicTemplate, Rendered } from './template.ts'
import { createThreadPool } from './thread-pool.ts'

export type { TemplateData } from './batch.ts'

/** `who`: those who have batches that wait take turns, so that many costly templates of one delay those of others by one. */
export interface DynamicRenderer {
  /**
   * Renders a template once per recipient, with data that can be represented in JSON. The result depends only on
   * template and data. Long batches alternate with others. Errors in template or data are returned as results. Each
   * result takes up to 10 MB, so pass only as many recipients as fit in memory.
   *
   * Throws overloaded if too many batches are waiting.
   */
  renderDynamic(template: DynamicTemplate, data: readonly TemplateData[], who?: string): Promise<Rendered[]>
  /** Runs {@link checkDynamic} in a thread, for texts of any size. Throws overloaded. */
  check(text: string, who?: string): Promise<CheckedTemplate>
  /** Converts HTML to plain text; undefined if it takes too much time or memory. Throws overloaded. */
  plainText(html: string, who?: string): Promise<string | undefined>
  /** Stops the threads and rejects waiting batches. */
  close(): Promise<void>
}

export interface RendererOptions {
  /** Maximum number of threads; default 2. None is started before there is something to render. */
  readonly threads?: number
  /** Maximum number of waiting batches of one; default 1000. In all, four times as many. */
  readonly waiting?: number
  /** Milliseconds after which an idle thread is stopped; default one minute. */
  readonly idle?: number
}

/** Creates the pool of threads that render dynamic templates. No thread is started before the first batch. */
export function createDynamicRenderer(options: RendererOptions = {}): DynamicRenderer {
  const { threads = 2, waiting = 1000, idle = 60_000 } = options
  const queue = new Rotation<Batch>()
  const pool = createThreadPool(idle)
  let running = 0
  let closed = false

  function enqueue(batch: Batch): Promise<void> {
    if (closed || queue.size >= 4 * waiting || queue.countOf(batch.who) >= waiting) {
      return Promise.reject(new ServiceError('overloaded', { reason: 'too many template renderings wait' }))
    }
    queue.push(batch.who, batch)
    next()
    return batch.settle.promise
  }

  function next(): void {
    while (running < threads) {
      const begun = queue.begin(threads)
      if (!begun) return
      running++
      void serve(begun.item).finally(() => {
        begun.end()
        running--
        next()
      })
    }
  }

  /** Runs one slot of a batch. The rest of the batch is queued again after the others. */
  async function serve(batch: Batch): Promise<void> {
    const order = batch.order(batch.rendered.length)
    if (!('kind' in order)) {
      batch.rendered.push({ kind: 'failed', failure: order })
      return settleOrRequeue(batch)
    }
    const thread = pool.take()
    try {
      const { rendered, checked, plain, stopped } = await thread.serve(order)
      Object.assign(batch, { checked, plain })
      for (const one of rendered) batch.rendered.push(toText(one))
      if (stopped) failStopped(batch, stopped)
      else pool.release(thread)
      settleOrRequeue(batch)
    } catch (error) {
      await thread.stop()
      batch.settle.reject(error)
    }
  }

  function settleOrRequeue(batch: Batch): void {
    if (batch.rendered.length >= batch.wanted || hasResult(batch)) batch.settle.resolve()
    else if (closed) batch.settle.reject(new ServiceError('overloaded', { reason: 'the process is ending' }))
    else queue.push(batch.who, batch)
  }

  return {
    async renderDynamic(template, data, who) {
      const batch = newBatch(who, data.length, (from) => slotOf(template, data, from))
      if (data.length > 0) await enqueue(batch)
      return batch.rendered
    },
    async check(text, who) {
      const batch = newBatch(who, 1, () => ({ kind: 'check', text }))
      await enqueue(batch)
      const [failed] = batch.rendered
      if (failed?.kind === 'failed') return { ok: false, failure: failed.failure }
      return batch.checked ?? { ok: true }
    },
    async plainText(html, who) {
      const batch = newBatch(who, 1, () => ({ kind: 'plain', html }))
      await enqueue(batch)
      return batch.plain
    },
    async close() {
      closed = true
      for (const batch of queue.drain()) settleOrRequeue(batch)
      await pool.close()
    },
  }
}

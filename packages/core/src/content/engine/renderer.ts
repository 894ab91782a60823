import { ServiceError } from '../../platform/errors.ts'
import { type RenderingThread, startRenderingThread } from './rendering-thread.ts'
import {
  type CheckedTemplate,
  type DynamicTemplate,
  NOT_JSON,
  type Rendered,
  type RenderedOctets,
  type RenderFailure,
} from './template.ts'
import type { Order } from './thread.ts'

export interface DynamicRenderer {
  /**
   * Renders a template once per recipient, with data that can be represented in JSON. The result depends only on
   * template and data. Long batches alternate with others. Errors in template or data are returned as results. Each
   * result takes up to 10 MB, so pass only as many recipients as fit in memory.
   *
   * Throws overloaded if too many batches are waiting.
   */
  renderDynamic(template: DynamicTemplate, data: readonly TemplateData[]): Promise<Rendered[]>
  /** Runs {@link checkDynamic} in a thread, for texts of any size. Throws overloaded. */
  check(text: string): Promise<CheckedTemplate>
  /** Converts HTML to plain text; undefined if it takes too much time or memory. Throws overloaded. */
  plainText(html: string): Promise<string | undefined>
  /** Stops the threads and rejects waiting batches. */
  close(): Promise<void>
}

export type TemplateData = Readonly<Record<string, unknown>>

export interface RendererOptions {
  /** Maximum number of threads; default 2. None is started before there is something to render. */
  readonly threads?: number
  /** Maximum number of waiting batches; default 1000. */
  readonly waiting?: number
  /** Milliseconds after which an idle thread is stopped; default one minute. */
  readonly idle?: number
}

/**
 * Number of threads a batch may cost before the rest of it fails: then the cause is its template and not one
 * recipient's data.
 */
const MAX_STOPPED = 3
/**
 * Bytes of data sent to a thread at a time, to protect its heap from large batches; a single rendering may have more.
 */
const SLOT_DATA = 4 * 1024 * 1024
/** Maximum renderings per slot. */
const SLOT_COUNT = 200

interface Batch {
  readonly order: (from: number) => Order | RenderFailure
  readonly wanted: number
  readonly rendered: Rendered[]
  checked: CheckedTemplate | undefined
  plain: string | undefined
  stopped: number
  readonly settle: PromiseWithResolvers<void>
}

/** Creates the pool of threads that render dynamic templates. No thread is started before the first batch. */
export function createDynamicRenderer(options: RendererOptions = {}): DynamicRenderer {
  const { threads = 2, waiting = 1000, idle = 60_000 } = options
  const queue: Batch[] = []
  const free: { thread: RenderingThread; timer: NodeJS.Timeout }[] = []
  let running = 0
  let closed = false

  function enqueue(batch: Batch): Promise<void> {
    if (closed || queue.length >= waiting) {
      return Promise.reject(new ServiceError('overloaded', { reason: 'too many template renderings wait' }))
    }
    queue.push(batch)
    next()
    return batch.settle.promise
  }

  function next(): void {
    while (queue.length > 0 && running < threads) {
      running++
      void serve(queue.shift() as Batch).finally(() => {
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
    const thread = takeThread()
    try {
      const { rendered, checked, plain, stopped } = await thread.serve(order)
      Object.assign(batch, { checked, plain })
      for (const one of rendered) batch.rendered.push(toText(one))
      if (stopped) failStopped(batch, stopped)
      else releaseThread(thread)
      settleOrRequeue(batch)
    } catch (error) {
      await thread.stop()
      batch.settle.reject(error)
    }
  }

  function settleOrRequeue(batch: Batch): void {
    if (batch.rendered.length >= batch.wanted || hasResult(batch)) batch.settle.resolve()
    else if (closed) batch.settle.reject(new ServiceError('overloaded', { reason: 'the process is ending' }))
    else queue.push(batch)
  }

  function takeThread(): RenderingThread {
    const kept = free.pop()
    clearTimeout(kept?.timer)
    return kept?.thread ?? startRenderingThread()
  }

  function releaseThread(thread: RenderingThread): void {
    if (closed) return void thread.stop()
    const timer = setTimeout(() => {
      free.splice(
        free.findIndex((kept) => kept.thread === thread),
        1,
      )
      void thread.stop()
    }, idle)
    free.push({ thread, timer: timer.unref() })
  }

  return {
    async renderDynamic(template, data) {
      const batch = newBatch(data.length, (from) => orderOf(template, data, from))
      if (data.length > 0) await enqueue(batch)
      return batch.rendered
    },
    async check(text) {
      const batch = newBatch(1, () => ({ kind: 'check', text }))
      await enqueue(batch)
      const [failed] = batch.rendered
      if (failed?.kind === 'failed') return { ok: false, failure: failed.failure }
      return batch.checked ?? { ok: true }
    },
    async plainText(html) {
      const batch = newBatch(1, () => ({ kind: 'plain', html }))
      await enqueue(batch)
      return batch.plain
    },
    async close() {
      closed = true
      for (const batch of queue.splice(0)) settleOrRequeue(batch)
      await Promise.all(
        free.splice(0).map(({ thread, timer }) => {
          clearTimeout(timer)
          return thread.stop()
        }),
      )
    },
  }
}

function newBatch(wanted: number, order: Batch['order']): Batch {
  return {
    ...{ order, wanted, rendered: [], checked: undefined, plain: undefined, stopped: 0 },
    settle: Promise.withResolvers(),
  }
}

function hasResult({ checked, plain }: Batch): boolean {
  return checked !== undefined || plain !== undefined
}

/** Returns the next slot of a batch: some of the data, each serialized as JSON, so that templates see only that. */
function orderOf(template: DynamicTemplate, data: readonly TemplateData[], from: number): Order | RenderFailure {
  const { subject, html, text } = template
  const slot: string[] = []
  let octets = 0
  for (let at = from; at < data.length && slot.length < SLOT_COUNT && octets < SLOT_DATA; at++) {
    const json = jsonOf(data[at])
    if (json === undefined) break
    slot.push(json)
    octets += json.length
  }
  return slot.length > 0 ? { kind: 'render', template: { subject, html, text }, data: slot } : NOT_JSON
}

/** Undefined if the data cannot be represented in JSON, is cyclic, or exceeds the maximum string length. */
function jsonOf(data: TemplateData | undefined): string | undefined {
  try {
    return JSON.stringify(data)
  } catch {
    return undefined
  }
}

/** Fails the rendering that stopped a thread; after several such failures, the rest of the batch. */
function failStopped(batch: Batch, failure: RenderFailure): void {
  batch.stopped++
  const last = batch.stopped < MAX_STOPPED ? batch.rendered.length + 1 : batch.wanted
  while (batch.rendered.length < last) batch.rendered.push({ kind: 'failed', failure })
}

function toText(rendered: RenderedOctets): Rendered {
  if (rendered.kind === 'failed') return rendered
  const part = (name: 'subject' | 'html' | 'text'): string | undefined => {
    const octets = rendered.parts.get(name)
    return octets && Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString('utf8')
  }
  const subject = part('subject')
  return {
    kind: 'rendered',
    subject: subject === undefined ? undefined : oneLine(subject),
    html: part('html'),
    text: part('text'),
  }
}

/** A subject has one line, whatever the data contained (V20). */
function oneLine(subject: string): string {
  return subject.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}

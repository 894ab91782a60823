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
   * Renders a template for each recipient's data, which is an object in JSON's terms. The same template and data always
   * give the same text. Long batches take turns with others. What is wrong with template or data is in the answer, which
   * holds up to 10 MB for each recipient: hand in as many as there is room for.
   *
   * Throws overloaded when too many wait.
   */
  renderDynamic(template: DynamicTemplate, data: readonly TemplateData[]): Promise<Rendered[]>
  /** {@link checkDynamic} in a thread, for texts of any size. Throws overloaded. */
  check(text: string): Promise<CheckedTemplate>
  /** The text of HTML. Undefined: it takes too much time or memory. Throws overloaded. */
  plainText(html: string): Promise<string | undefined>
  /** Ends the threads; what waits is refused. */
  close(): Promise<void>
}

export type TemplateData = Readonly<Record<string, unknown>>

export interface RendererOptions {
  /** Threads at most; 2 when left out. None is started before there is something to render. */
  readonly threads?: number
  /** Batches that may wait; 1000 when left out. */
  readonly waiting?: number
  /** Milliseconds after which a thread without work ends; a minute when left out. */
  readonly idle?: number
}

/** Threads one batch may cost before the rest of it is not tried: its template is at fault, not one recipient's data. */
const MOST_STOPPED = 3
/** Octets of data that go to a thread at once, so that a large batch does not fill its heap; one rendering may have more. */
const TURN_DATA = 4 * 1024 * 1024
/** Renderings of one turn. */
const TURN_COUNT = 200

interface Batch {
  readonly order: (from: number) => Order | RenderFailure
  readonly wanted: number
  readonly rendered: Rendered[]
  checked: CheckedTemplate | undefined
  plain: string | undefined
  stopped: number
  readonly settle: PromiseWithResolvers<void>
}

/** Makes the pool of threads that render dynamic templates; nothing runs and nothing is held until the first batch. */
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

  /** One turn of a batch; what is left of it goes behind the others. */
  async function serve(batch: Batch): Promise<void> {
    const order = batch.order(batch.rendered.length)
    if (!('kind' in order)) {
      batch.rendered.push({ kind: 'failed', failure: order })
      return again(batch)
    }
    const thread = takeThread()
    try {
      const { rendered, checked, plain, stopped } = await thread.serve(order)
      Object.assign(batch, { checked, plain })
      for (const one of rendered) batch.rendered.push(toText(one))
      if (stopped) refuse(batch, stopped)
      else giveBack(thread)
      again(batch)
    } catch (error) {
      await thread.stop()
      batch.settle.reject(error)
    }
  }

  function again(batch: Batch): void {
    if (batch.rendered.length >= batch.wanted || isAnswered(batch)) batch.settle.resolve()
    else if (closed) batch.settle.reject(new ServiceError('overloaded', { reason: 'the process is ending' }))
    else queue.push(batch)
  }

  function takeThread(): RenderingThread {
    const kept = free.pop()
    clearTimeout(kept?.timer)
    return kept?.thread ?? startRenderingThread()
  }

  function giveBack(thread: RenderingThread): void {
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
      for (const batch of queue.splice(0)) again(batch)
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

function isAnswered({ checked, plain }: Batch): boolean {
  return checked !== undefined || plain !== undefined
}

/** The next turn of a batch: some of the data, each in JSON, which is all a template may see of it. */
function orderOf(template: DynamicTemplate, data: readonly TemplateData[], from: number): Order | RenderFailure {
  const { subject, html, text } = template
  const turn: string[] = []
  let octets = 0
  for (let at = from; at < data.length && turn.length < TURN_COUNT && octets < TURN_DATA; at++) {
    const json = jsonOf(data[at])
    if (json === undefined) break
    turn.push(json)
    octets += json.length
  }
  return turn.length > 0 ? { kind: 'render', template: { subject, html, text }, data: turn } : NOT_JSON
}

/** Undefined for what JSON has no way to say, nests without end, or is too long for a string. */
function jsonOf(data: TemplateData | undefined): string | undefined {
  try {
    return JSON.stringify(data)
  } catch {
    return undefined
  }
}

/** The rendering that stopped a thread failed; after a few of them the rest of the batch did too. */
function refuse(batch: Batch, failure: RenderFailure): void {
  batch.stopped++
  const last = batch.stopped < MOST_STOPPED ? batch.rendered.length + 1 : batch.wanted
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

/** A subject is one line, whatever the data held (V20). */
function oneLine(subject: string): string {
  return subject.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}

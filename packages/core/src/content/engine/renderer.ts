import { createThreadPool, ThreadStopped } from '../../platform/concurrency/guarded-thread.ts'
import { NotJson, slotOf, type TemplateData, toText } from './batch.ts'
import {
  type CheckedTemplate,
  type DynamicTemplate,
  NOT_JSON,
  type Rendered,
  type RenderedOctets,
  type RenderFailure,
  TOO_LONG,
  TOO_MUCH_MEMORY,
} from './template.ts'
import type { Answer, Order } from './thread.ts'

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
  /** Stops the threads and rejects waiting batches. */
  close(): Promise<void>
}

export interface RendererOptions {
  /** Maximum number of threads; default 2. None is started before there is something to render. */
  readonly threads?: number
  /** Maximum number of waiting batches of one; default 1000. In all, four times as many. */
  readonly waiting?: number
}

/** Number of threads a batch may cost before the rest of it fails: then the cause is its template and not one recipient's data. */
const MAX_STOPPED = 3

/** Creates the pool of threads that render dynamic templates. No thread is started before the first batch. */
export function createDynamicRenderer({ threads = 2, waiting = 1000 }: RendererOptions = {}): DynamicRenderer {
  const pool = createThreadPool<Order, Answer, RenderedOctets>({
    name: 'template rendering',
    url: new URL('./thread.ts', import.meta.url),
    threads,
    waiting: 4 * waiting,
    each: waiting,
    // V26: of one rendering; 64 MB of heap with what is new.
    mostCpu: 500,
    longest: 10_000,
    heap: 48,
  })

  return {
    async renderDynamic(template, data, who) {
      const results: Rendered[] = []
      const onPart = (rendered: RenderedOctets): void => void results.push(toText(rendered))
      for (let stopped = 0; results.length < data.length; ) {
        const slot = () => slotOf(template, data, results.length)
        try {
          // The rest of the batch waits again, behind the others.
          await pool.askInTurn(slot, { who, onPart, isRest: results.length > 0 })
        } catch (error) {
          const failure = failureOf(error)
          const isHopeless = error instanceof ThreadStopped && ++stopped >= MAX_STOPPED
          const last = isHopeless ? data.length : results.length + 1
          while (results.length < last) results.push({ kind: 'failed', failure })
        }
      }
      return results
    },
    async check(text, who) {
      try {
        return (await pool.ask({ kind: 'check', text }, { who })).checked ?? { ok: true }
      } catch (error) {
        return { ok: false, failure: failureOf(error) }
      }
    },
    close: () => pool.close(),
  }
}

/** The error as a result for the account; throws one that has another cause than template and data. */
function failureOf(error: unknown): RenderFailure {
  if (error instanceof NotJson) return NOT_JSON
  if (!(error instanceof ThreadStopped)) throw error
  return error.why === 'memory' ? TOO_MUCH_MEMORY : TOO_LONG
}

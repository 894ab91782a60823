import type { DynamicRenderer, DynamicTemplate, Rendered, TemplateData } from '../content/engine/index.ts'

/** Characters that the renderings of one batch may have together, going by the largest seen so far of that message. */
const BATCH_OUTPUT = 4 * 1024 * 1024
const MOST_IN_BATCH = 100

export interface RenderQueue {
  /**
   * Renders a message's template for one recipient. What is asked while a batch of that message is being rendered goes in the next
   * one: the template is read once for all of them. Throws overloaded.
   */
  render(message: WeakKey, template: DynamicTemplate, data: TemplateData): Promise<Rendered>
}

interface Asked {
  readonly data: TemplateData
  readonly settle: PromiseWithResolvers<Rendered>
}

export function createRenderQueue(renderer: Pick<DynamicRenderer, 'renderDynamic'>): RenderQueue {
  const waiting = new Map<WeakKey, Asked[]>()
  const largest = new WeakMap<WeakKey, number>()

  async function serve(message: WeakKey, template: DynamicTemplate, asked: Asked[]): Promise<void> {
    while (asked.length > 0) {
      const size = largest.get(message)
      // The first one alone: it tells how large they are.
      const most = size === undefined ? 1 : Math.min(MOST_IN_BATCH, Math.ceil(BATCH_OUTPUT / (size + 1)))
      const batch = asked.splice(0, most)
      try {
        const rendered = await renderer.renderDynamic(
          template,
          batch.map(({ data }) => data),
        )
        largest.set(message, Math.max(size ?? 0, ...rendered.map(lengthOf)))
        for (const [at, { settle }] of batch.entries()) settle.resolve(rendered[at] as Rendered)
      } catch (error) {
        for (const { settle } of batch) settle.reject(error)
      }
    }
    waiting.delete(message)
  }

  return {
    render(message, template, data) {
      const settle = Promise.withResolvers<Rendered>()
      const before = waiting.get(message)
      if (before) before.push({ data, settle })
      else {
        const asked = [{ data, settle }]
        waiting.set(message, asked)
        void serve(message, template, asked)
      }
      return settle.promise
    },
  }
}

function lengthOf(rendered: Rendered): number {
  if (rendered.kind === 'failed') return 0
  const { subject = '', html = '', text = '' } = rendered
  return subject.length + html.length + text.length
}

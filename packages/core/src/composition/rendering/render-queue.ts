import type { DynamicRenderer, DynamicTemplate, Rendered, TemplateData } from '../../content/engine/index.ts'

/** Maximum total characters of the output of one batch, estimated from the largest output of that message so far. */
const BATCH_OUTPUT = 4 * 1024 * 1024
const MAX_BATCH = 100

export interface RenderQueue {
  /**
   * Renders a message's template for one recipient. Requests made while a batch of that message is being rendered form the next
   * batch, for which the template is parsed once. Flows take turns. Throws overloaded.
   */
  render(message: WeakKey, template: DynamicTemplate, data: TemplateData, flow: string): Promise<Rendered>
}

/** Common to all batches of a message. */
interface Batches {
  readonly message: WeakKey
  readonly template: DynamicTemplate
  readonly flow: string
}

interface Request {
  readonly data: TemplateData
  readonly settle: PromiseWithResolvers<Rendered>
}

/** Creates a queue that renders the requests of each message in batches. */
export function createRenderQueue(renderer: Pick<DynamicRenderer, 'renderDynamic'>): RenderQueue {
  const waiting = new Map<WeakKey, Request[]>()
  const largest = new WeakMap<WeakKey, number>()

  async function serve({ message, template, flow }: Batches, requests: Request[]): Promise<void> {
    while (requests.length > 0) {
      const size = largest.get(message)
      // The first batch has one request, whose output shows how large the outputs are.
      const limit = size === undefined ? 1 : Math.min(MAX_BATCH, Math.ceil(BATCH_OUTPUT / (size + 1)))
      const batch = requests.splice(0, limit)
      try {
        const rendered = await renderer.renderDynamic(
          template,
          batch.map(({ data }) => data),
          flow,
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
    render(message, template, data, flow) {
      const settle = Promise.withResolvers<Rendered>()
      const before = waiting.get(message)
      if (before) before.push({ data, settle })
      else {
        const requests = [{ data, settle }]
        waiting.set(message, requests)
        void serve({ message, template, flow }, requests)
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

import { cpuUsed, type Served, serveOrders } from '../../platform/concurrency/thread-orders.ts'
import type { RenderedOctets } from './template.ts'
import { type CheckedTemplate, checkDynamic, compile, type DynamicTemplate, renderCompiled } from './template.ts'

/** An order to a thread: render a template with the data of some recipients, each as JSON; or check a template's syntax. */
export type Order =
  | { readonly kind: 'render'; readonly template: DynamicTemplate; readonly data: readonly string[] }
  | { readonly kind: 'check'; readonly text: string }

/** Renderings are reported as parts, in the order of the data; fewer than requested if the slot ended before. */
export interface Answer {
  readonly checked?: CheckedTemplate
}

/** Milliseconds after which a long batch yields to others; the rest of it is sent again. */
const SLOT_MS = 250

/** A rendering thread. It exchanges only text and has no environment, files or database. */
serveOrders<Order, Answer, RenderedOctets>((order, onPart) => {
  if (order.kind === 'check') return answer({ checked: checkDynamic(order.text) })
  const until = cpuUsed() + SLOT_MS
  const compiled = compile(order.template)
  for (const json of order.data) {
    onPart(renderCompiled(compiled, json, order.template.listNames))
    if (cpuUsed() > until) break
  }
  return answer({})
})

function answer(answer: Answer): Served<Answer> {
  return { answer, transfer: [] }
}

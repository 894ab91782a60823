import { isMainThread, parentPort } from 'node:worker_threads'
import { cpuUsed } from '../../platform/concurrency/thread-orders.ts'
import type { RenderedOctets } from './template.ts'
import { type CheckedTemplate, checkDynamic, compile, type DynamicTemplate, renderCompiled } from './template.ts'

/**
 * An order to a thread: render a template with the data of some recipients, each as JSON; check a template's syntax; or
 * convert HTML to plain text.
 */
export type Order =
  | { readonly kind: 'render'; readonly template: DynamicTemplate; readonly data: readonly string[] }
  | { readonly kind: 'check'; readonly text: string }
  | { readonly kind: 'plain'; readonly html: string }

/** A message from the thread: ready, the result of one rendering, or the end of the slot. */
export type Report =
  | { readonly kind: 'ready'; readonly cpu: number }
  | { readonly kind: 'rendered'; readonly rendered: RenderedOctets; readonly cpu: number }
  | { readonly kind: 'checked'; readonly checked: CheckedTemplate; readonly cpu: number }
  | { readonly kind: 'plain'; readonly plain: string; readonly cpu: number }
  | { readonly kind: 'done'; readonly cpu: number }

/** Milliseconds after which a long batch yields to others; the rest of it is sent again. */
const SLOT_MS = 250

/** Entry function of a rendering thread. It exchanges only text and has no environment, files or database. */
function serve(): void {
  const port = parentPort
  if (isMainThread || !port) return
  const report = (report: Report): void => port.postMessage(report)
  port.on('message', (order: Order) => {
    if (order.kind === 'check') return report({ kind: 'checked', checked: checkDynamic(order.text), cpu: cpuUsed() })
    if (order.kind === 'plain') return void makePlain(order.html, report)
    const until = cpuUsed() + SLOT_MS
    const compiled = compile(order.template)
    for (const json of order.data) {
      const rendered = renderCompiled(compiled, json, order.template.listMissing)
      report({ kind: 'rendered', rendered, cpu: cpuUsed() })
      if (cpuUsed() > until) break
    }
    report({ kind: 'done', cpu: cpuUsed() })
  })
  report({ kind: 'ready', cpu: cpuUsed() })
}

/** Loads the converter only when needed, since most threads never need it. */
async function makePlain(html: string, report: (report: Report) => void): Promise<void> {
  const { toPlainText: plainTextOf } = await import('./plain-text.ts')
  report({ kind: 'plain', plain: plainTextOf(html), cpu: cpuUsed() })
}

serve()

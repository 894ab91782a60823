import { isMainThread, parentPort } from 'node:worker_threads'
import type { RenderedOctets } from './template.ts'
import { type CheckedTemplate, checkDynamic, compile, type DynamicTemplate, renderCompiled } from './template.ts'

/**
 * What a thread is asked: a template and the data of some recipients, each in JSON; whether a text is a template; the plain text of
 * HTML.
 */
export type Order =
  | { readonly kind: 'render'; readonly template: DynamicTemplate; readonly data: readonly string[] }
  | { readonly kind: 'check'; readonly text: string }
  | { readonly kind: 'plain'; readonly html: string }

/** What it says: that it is ready, one rendering after the other, and that it has had its turn. */
export type Report =
  | { readonly kind: 'ready'; readonly cpu: number }
  | { readonly kind: 'rendered'; readonly rendered: RenderedOctets; readonly cpu: number }
  | { readonly kind: 'checked'; readonly checked: CheckedTemplate; readonly cpu: number }
  | { readonly kind: 'plain'; readonly plain: string; readonly cpu: number }
  | { readonly kind: 'done'; readonly cpu: number }

/** Milliseconds after which a long batch makes room for others; the rest of it comes again. */
const TURN = 250

/** The body of a rendering thread. It gets text and gives text: no environment, no files, no database. */
function serve(): void {
  const port = parentPort
  if (isMainThread || !port) return
  const say = (report: Report): void => port.postMessage(report)
  port.on('message', (order: Order) => {
    if (order.kind === 'check') return say({ kind: 'checked', checked: checkDynamic(order.text), cpu: cpuUsed() })
    if (order.kind === 'plain') return void makePlain(order.html, say)
    const until = cpuUsed() + TURN
    const compiled = compile(order.template)
    for (const json of order.data) {
      const rendered = renderCompiled(compiled, json)
      say({ kind: 'rendered', rendered, cpu: cpuUsed() })
      if (cpuUsed() > until) break
    }
    say({ kind: 'done', cpu: cpuUsed() })
  })
  say({ kind: 'ready', cpu: cpuUsed() })
}

/** What makes it is read when it is asked for: most threads never are. */
async function makePlain(html: string, say: (report: Report) => void): Promise<void> {
  const { plainTextOf } = await import('./plain-text.ts')
  say({ kind: 'plain', plain: plainTextOf(html), cpu: cpuUsed() })
}

/** Milliseconds this thread has computed. */
function cpuUsed(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

serve()

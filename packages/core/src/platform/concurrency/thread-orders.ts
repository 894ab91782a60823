import { isMainThread, parentPort, type Transferable } from 'node:worker_threads'
import type { ThreadReport } from './guarded-thread.ts'

/** The result of an order, and the parts of it that are transferred instead of copied. */
export interface Served<Answer> {
  readonly answer: Answer
  readonly transfer: readonly Transferable[]
}

/** Serves a pool's orders in a thread, one at a time. The limits of time apply to each part of the result that it reports. */
export function serveOrders<Order, Answer, Part = never>(
  serve: (order: Order, onPart: (part: Part) => void) => Served<Answer> | Promise<Served<Answer>>,
): void {
  const port = parentPort
  if (isMainThread || !port) return
  const report = (report: ThreadReport<Answer, Part>, transfer: readonly Transferable[] = []): void =>
    port.postMessage(report, transfer)
  const onPart = (part: Part): void => report({ kind: 'part', part, cpu: cpuUsed() })
  port.on('message', async (order: Order) => {
    try {
      const { answer, transfer } = await serve(order, onPart)
      report({ kind: 'answer', answer, cpu: cpuUsed() }, transfer)
    } catch (error) {
      report({ kind: 'error', error, cpu: cpuUsed() })
    }
  })
  report({ kind: 'ready', cpu: cpuUsed() })
}

/** Returns the processor time used by this thread, in milliseconds. */
export function cpuUsed(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

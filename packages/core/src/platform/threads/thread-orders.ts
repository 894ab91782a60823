import { isMainThread, parentPort, type Transferable } from 'node:worker_threads'
import type { ThreadReport } from './guarded-thread.ts'

/** What came of an order, and what of it goes over without a copy. */
export interface Served<Answer> {
  readonly answer: Answer
  readonly transfer: readonly Transferable[]
}

/** The body of a thread of a pool: gets orders, one at a time, and gives answers. */
export function serveOrders<Order, Answer>(serve: (order: Order) => Served<Answer> | Promise<Served<Answer>>): void {
  const port = parentPort
  if (isMainThread || !port) return
  const say = (report: ThreadReport<Answer>, transfer: readonly Transferable[] = []): void =>
    port.postMessage(report, transfer)
  port.on('message', async (order: Order) => {
    try {
      const { answer, transfer } = await serve(order)
      say({ kind: 'answer', answer, cpu: cpuUsed() }, transfer)
    } catch (error) {
      say({ kind: 'error', error, cpu: cpuUsed() })
    }
  })
  say({ kind: 'ready', cpu: cpuUsed() })
}

/** Milliseconds this thread has computed. */
function cpuUsed(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

import { parentPort, workerData } from 'node:worker_threads'
import { isDatabaseAway, openDatabase } from '../platform/database/database.ts'
import { registerWorker } from './lease.ts'
import type { LeaseReport, LeaseThreadData } from './lease-thread.ts'
import { Standstill } from './standstill.ts'

/** Milliseconds after a beat that failed: the lock went with its session, and must be back before others count us dead. */
const AGAIN_AFTER = 200

/** The body of the thread that proves that a worker lives: a connection of its own, and nothing that a message could stop. */
async function serve(): Promise<void> {
  const port = parentPort
  if (!port) return
  const { databaseUrl, host, pid, counters, times } = workerData as LeaseThreadData
  const say = (report: LeaseReport): void => port.postMessage(report)
  const lease = await registerWorker(openDatabase({ url: databaseUrl, name: 'lease', connections: 1 }), { host, pid })
  const standstill = new Standstill(new Int32Array(counters), times)
  say({ kind: 'registered', workerId: lease.workerId })
  let ended = false
  port.on('message', () => {
    ended = true
    lease.release().then(
      () => say({ kind: 'released' }),
      (error: Error) => say({ kind: 'released', problem: error.message }),
    )
  })

  while (!ended) {
    const began = performance.now()
    const answer = await lease.beat().catch((error: unknown) => {
      if (!ended && !isDatabaseAway(error)) say({ kind: 'problem', problem: (error as Error).message })
      return undefined
    })
    if (ended) return
    const why = answer === false ? 'taken' : standstill.look(answer === true)
    if (why) {
      await lease.abandon()
      return say({ kind: 'lost', why })
    }
    const wait = answer === undefined ? AGAIN_AFTER : Math.max(0, times.beatEvery - (performance.now() - began))
    await new Promise((resolve) => setTimeout(resolve, wait))
  }
}

serve().catch((error: Error) =>
  parentPort?.postMessage({ kind: 'failed', problem: error.message } satisfies LeaseReport),
)

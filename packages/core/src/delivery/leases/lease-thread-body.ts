import { parentPort, workerData } from 'node:worker_threads'
import { pause } from '../../platform/concurrency/timer-delay.ts'
import { isDatabaseAway, openDatabase } from '../../platform/database/database.ts'
import { registerWorker } from './lease.ts'
import type { LeaseReport, LeaseThreadData } from './lease-thread.ts'
import { Standstill } from './standstill.ts'

/**
 * Milliseconds to wait after a failed heartbeat. The lock was lost with its session and must be taken again before other
 * workers presume this one dead.
 */
const RETRY_AFTER = 200

/** Body of the thread that sends heartbeats. It has its own connection and runs nothing that a message could block. */
async function serve(): Promise<void> {
  const port = parentPort
  if (!port) return
  const { databaseUrl, host, pid, counters, times } = workerData as LeaseThreadData
  const send = (report: LeaseReport): void => port.postMessage(report)
  const lease = await registerWorker(openDatabase({ url: databaseUrl, name: 'lease', connections: 1 }), { host, pid })
  const standstill = new Standstill(new Int32Array(counters), times)
  send({ kind: 'registered', workerId: lease.workerId })
  let ended = false
  port.on('message', () => {
    ended = true
    lease.release().then(
      () => send({ kind: 'released' }),
      (error: Error) => send({ kind: 'released', problem: error.message }),
    )
  })

  while (!ended) {
    const began = performance.now()
    const alive = await lease.beat().catch((error: unknown) => {
      if (!ended && !isDatabaseAway(error)) send({ kind: 'problem', problem: (error as Error).message })
      return undefined
    })
    if (ended) return
    const reason = alive === false ? 'taken' : standstill.look(alive === true)
    if (reason) {
      await lease.abandon()
      return send({ kind: 'lost', why: reason })
    }
    const wait = alive === undefined ? RETRY_AFTER : times.beatEvery - (performance.now() - began)
    await pause(wait)
  }
}

serve().catch((error: Error) =>
  parentPort?.postMessage({ kind: 'failed', problem: error.message } satisfies LeaseReport),
)

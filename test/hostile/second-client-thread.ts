import { parentPort, workerData } from 'node:worker_threads'
import { askApi, askRelay, askSandbox, askWorker } from './ordinary-calls.ts'
import type { Door } from './row.ts'
import type { SecondClientData, Waits } from './second-client.ts'

/** Asks one thing and answers how it went; a sentence for what it should not be. */
export type Ask = () => Promise<string | undefined>

const CALLS: Record<Door, (data: SecondClientData) => Promise<Ask>> = {
  api: askApi,
  relay: askRelay,
  worker: askWorker,
  sandbox: askSandbox,
}
/** Milliseconds between an answer and the next question. */
const PAUSE_MS = 10

const data = workerData as SecondClientData
const ask = await CALLS[data.door](data)
let running = false
let round: Promise<void> = Promise.resolve()
let askedAt: number | undefined
let waits: number[] = []
let failures = 0

parentPort?.on('message', async (message: 'begin' | number) => {
  if (message !== 'begin') return parentPort?.postMessage(await end(message))
  // An answer may still be due from the time before.
  await round
  waits = []
  failures = 0
  running = true
  round = run()
})
parentPort?.postMessage('ready')

async function run(): Promise<void> {
  while (running) {
    askedAt = performance.now()
    const wrong = await ask().catch((error: unknown) => String(error))
    waits.push(performance.now() - askedAt)
    askedAt = undefined
    if (wrong !== undefined) failures++
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

async function end(within: number): Promise<Waits> {
  running = false
  const deadline = performance.now() + within
  while (askedAt !== undefined && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5))
  const late = askedAt === undefined ? [] : [performance.now() - askedAt]
  const sorted = [...waits, ...late].toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { count: sorted.length, median: at(0.5), p99: at(0.99), longest: sorted.at(-1) ?? 0, failed: failures }
}

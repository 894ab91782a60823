import { parentPort, workerData } from 'node:worker_threads'
import { cpuUsed } from '../../../packages/core/src/platform/concurrency/thread-orders.ts'

/** A thread that reports what it gets, with its data and environment, and does as it is told. */
const report = (said: string): void => parentPort?.postMessage({ said, cpu: cpuUsed() })

parentPort?.on('message', (order: string) => {
  if (order === 'end') process.exit(1)
  if (order === 'throw') throw new Error('told to')
  while (order === 'compute');
  const all: number[][] = []
  while (order === 'take memory') all.push(new Array(10_000).fill(1))
  report(order === 'tell' ? JSON.stringify({ workerData, names: Object.keys(process.env) }) : order)
})
report('ready')

import { setTimeout as pause } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { garbageCollector } from '@postrider/core'

/** Reports the MiB of the process before it has made 400,000 objects, with them, and after it has released them. */
const { release } = garbageCollector()
release()
const before = resident()
const filled = fill()
// What a function used may be kept until it has ended.
await pause(10)
release()
parentPort?.postMessage({ before, filled, after: resident() })

function fill(): number {
  const made = Array.from({ length: 400_000 }, (_, at) => ({ [`k${at}`]: `v${at}`, list: [at] }))
  return made.length > 0 ? resident() : 0
}

function resident(): number {
  return process.memoryUsage.rss() / 1024 / 1024
}

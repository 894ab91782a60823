import type { Writable } from 'node:stream'
import { timerDelay } from './concurrency/timer-delay.ts'

/** Milliseconds that a client has to read a response whose memory is counted: 30 MB at 100 kB/s. */
const READING_MS = 300_000

/**
 * Resolves when everything has been written to the stream, or it was closed before. At the deadline it is destroyed: a client that reads slowly
 * must not hold memory for longer.
 */
export function written(stream: Writable, milliseconds = READING_MS): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => stream.destroy(), timerDelay(milliseconds)).unref()
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    if (stream.destroyed) return done()
    stream.once('finish', done)
    stream.once('close', done)
  })
}

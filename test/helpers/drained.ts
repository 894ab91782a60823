import { once } from 'node:events'
import type { Writable } from 'node:stream'

/** Resolves when more can be written, or never will be; leaves no listener behind. Rejects with the stream's error. */
export async function drained(stream: Writable): Promise<void> {
  const over = new AbortController()
  const { signal } = over
  await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]).finally(() => over.abort())
}

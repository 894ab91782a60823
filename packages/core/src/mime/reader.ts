import { ServiceError } from '../platform/errors.ts'
import { createThreadPool, ThreadStopped } from '../platform/threads/guarded-thread.ts'
import { longWork } from '../platform/threads/turns.ts'
import type { MessageParts } from './message-parts.ts'

/** Takes messages apart in threads of their own: a message may be made so that it costs more than anybody would wait. */
export interface MessageReader {
  /** Throws messageMalformed when it takes too long or too much memory, overloaded. */
  read(message: readonly Buffer[]): Promise<MessageParts>
  close(): Promise<void>
}

export function createMessageReader(): MessageReader {
  const pool = createThreadPool<Uint8Array, MessageParts>({
    ...{ name: 'message reading', url: new URL('./reading-thread.ts', import.meta.url) },
    // 30 MB of files take 0.2 s.
    ...{ threads: 2, waiting: 1000, mostCpu: 2000, longest: 15_000, heap: 128 },
  })
  return {
    async read(message) {
      const octets = await together(message)
      try {
        return await pool.ask(octets, [octets.buffer as ArrayBuffer])
      } catch (error) {
        throw error instanceof ThreadStopped ? refusalFor(error) : error
      }
    },
    close: () => pool.close(),
  }
}

/** Octets that are copied before others may have a turn. */
const SLICE = 1024 * 1024

/** A copy, as it goes to the thread as a whole; in pieces, since 28 MB of fresh memory take 11 to 28 ms. */
async function together(pieces: readonly Buffer[]): Promise<Uint8Array> {
  // What is not filled with zeros costs nothing before it is written to.
  const octets = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0))
  const work = longWork()
  let at = 0
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += SLICE) {
      at += piece.copy(octets, at, from, from + SLICE)
      await work.pause()
    }
  }
  return octets
}

function refusalFor({ why, message }: ThreadStopped): ServiceError {
  if (why === 'busy') return new ServiceError('overloaded', { reason: message })
  const much = why === 'time' ? 'too long' : 'too much memory'
  return new ServiceError('messageMalformed', { values: { problem: `parsing its parts takes ${much}` } })
}

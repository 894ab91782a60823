import { createThreadPool, ThreadStopped } from '../platform/concurrency/guarded-thread.ts'
import { ServiceError } from '../platform/errors.ts'
import type { ReturnReading } from './read/index.ts'
import type { Letter } from './read/letter.ts'
import type { Reading } from './return-result.ts'

/** A message that came back, as the thread has read it. */
export interface ThreadReading {
  readonly reading: ReturnReading
  /** The domain of the address in From, in lower case; empty if there is none. Unverified. */
  readonly reporter: string
  /** Set if that was the order. */
  readonly letter?: Letter
}

export interface ReadMessage {
  readonly reading: Reading
  readonly reporter: string
}

/** A message to be read. */
export interface ReadingOrder {
  readonly octets: Uint8Array
  /** The return path that it was sent to, if it is known. */
  readonly returnPath: string | undefined
  /** MAIL FROM of its transaction, if it is known. */
  readonly mailFrom?: string | undefined
  /** Read it as a letter, not as a report. */
  readonly isLetter?: boolean
}

export interface ReadingSource {
  readonly returnPath?: string | undefined
  readonly mailFrom?: string | undefined
  /** Messages of one client are read one after another, so that many of them delay those of others by one. */
  readonly client?: string | undefined
}

/** Reads messages that came back in a thread, since anybody can send them. */
export interface ReturnReader {
  /** Throws `overloaded`. */
  read(raw: Buffer, from: ReadingSource): Promise<ReadMessage>
  /** Reads a letter; all its texts are empty if that takes too long. Throws `overloaded`. */
  readLetter(raw: Buffer): Promise<Letter>
  close(): Promise<void>
}

const NO_LETTER: Letter = { author: '', subject: '', text: '', references: [], mentioned: { marks: [], tokens: [] } }

export function createReturnReader(): ReturnReader {
  const pool = createThreadPool<ReadingOrder, ThreadReading>({
    name: 'report reading',
    url: new URL('./reading-thread.ts', import.meta.url),
    // The worst 10 MiB known take 0.4 s.
    threads: 1,
    waiting: 1000,
    mostCpu: 2000,
    longest: 15_000,
    heap: 128,
  })

  async function read(
    raw: Buffer,
    { client: who, ...order }: Omit<ReadingOrder, 'octets'> & Pick<ReadingSource, 'client'>,
  ): Promise<ThreadReading | ReadMessage> {
    try {
      return await pool.askInTurn(() => ({ octets: new Uint8Array(raw), ...order }), {
        who,
        transfer: ({ octets }) => [octets.buffer as ArrayBuffer],
      })
    } catch (error) {
      if (!(error instanceof ThreadStopped)) throw error
      if (error.why === 'busy') throw new ServiceError('overloaded', { reason: error.message })
      return { reading: { kind: 'failed' }, reporter: '' }
    }
  }

  return {
    read: (raw, { returnPath, mailFrom, client }) => read(raw, { returnPath, mailFrom, client }),
    async readLetter(raw) {
      const answer = await read(raw, { returnPath: undefined, isLetter: true })
      return ('letter' in answer && answer.letter) || NO_LETTER
    },
    close: () => pool.close(),
  }
}

import { createThreadPool, ThreadStopped } from '../platform/concurrency/guarded-thread.ts'
import { longWork } from '../platform/concurrency/turns.ts'
import { ServiceError } from '../platform/errors.ts'
import type { AsciiHeader } from './conformance/ascii-header.ts'
import type { BodyRules, ConformedBody } from './conformance/body.ts'
import type { SigningKeys, VerifiedSignature } from './conformance/verify-signatures.ts'
import type { MessageParts } from './message-parts.ts'
import type { ReadingOrder } from './reading-thread.ts'

/** Parses messages in separate threads, since a crafted message can be very expensive to parse. */
export interface MessageReader {
  /** Throws messageMalformed if parsing exceeds its time or memory limit, or overloaded. Accounts take turns. */
  read(message: readonly Buffer[], accountId: number): Promise<MessageParts>
  /** Encodes what no server has to carry (conformance/body.ts). Throws the same errors. */
  conform(message: readonly Buffer[], accountId: number, rules: BodyRules): Promise<ConformedBody>
  /** Writes a header in ASCII (conformance/ascii-header.ts). Throws the same errors. */
  asciiHeader(head: Buffer, accountId: number, isStrict: boolean): Promise<AsciiHeader>
  /** Verifies DKIM signatures (conformance/verify-signatures.ts). What takes too long does not verify. Throws overloaded. */
  signatures(message: readonly Buffer[], accountId: number, keys: SigningKeys): Promise<Signatures>
  close(): Promise<void>
}

type Signatures = readonly (VerifiedSignature | undefined)[]
type Read = MessageParts | ConformedBody | AsciiHeader | Signatures

export function createMessageReader(): MessageReader {
  const pool = createThreadPool<ReadingOrder, Read>({
    name: 'message reading',
    url: new URL('./reading-thread.ts', import.meta.url),
    // A message with 30 MB of files takes 0.2 s.
    threads: 2,
    waiting: 1000,
    // The connections of one account may be as many as may wait.
    each: 500,
    mostCpu: 2000,
    longest: 15_000,
    heap: 128,
  })
  const ask = async (order: ReadingOrder, accountId: number): Promise<Read> => {
    try {
      return await pool.ask(order, {
        transfer: ({ octets }) => [octets.buffer as ArrayBuffer],
        who: String(accountId),
      })
    } catch (error) {
      throw error instanceof ThreadStopped ? refusalFor(error) : error
    }
  }
  return {
    async read(message, accountId) {
      return ask({ task: 'parts', octets: await concatenate(message) }, accountId) as Promise<MessageParts>
    },
    async conform(message, accountId, { sevenBit }) {
      const octets = await concatenate(message)
      return ask({ task: 'conform', octets, sevenBit }, accountId) as Promise<ConformedBody>
    },
    async asciiHeader(head, accountId, isStrict) {
      return ask({ task: 'header', octets: await concatenate([head]), isStrict }, accountId) as Promise<AsciiHeader>
    },
    async signatures(message, accountId, keys) {
      const octets = await concatenate(message)
      try {
        return (await ask({ task: 'signatures', octets, keys }, accountId)) as Signatures
      } catch (error) {
        if (error instanceof ServiceError && error.errorName === 'messageMalformed') return []
        throw error
      }
    },
    close: () => pool.close(),
  }
}

/** Octets copied before other work may run. */
const SLICE = 1024 * 1024

/**
 * Copies the message into one buffer for the thread. In slices, since writing to 28 MB of fresh memory takes 11 to 28
 * ms.
 */
async function concatenate(pieces: readonly Buffer[]): Promise<Uint8Array> {
  // Memory that is not zeroed costs nothing before it is written to.
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

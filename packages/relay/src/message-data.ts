import { type ByteBudget, LIMITS, ServiceError } from '@postrider/core'
import type { SMTPServerDataStream } from 'smtp-server'

const CR = 13
const LF = 10

/**
 * Collects the data of one message. What we could not take is read to its end all the same, since the reply comes after the
 * final dot; it is not kept.
 *
 * Throws tooLarge, overloaded, lineEndingInvalid, messageMalformed; a lost client's error otherwise. The octets of `budget` that
 * the message holds are the caller's to give back: `hold` is called with them.
 */
export async function collectMessage(
  stream: SMTPServerDataStream,
  budget: ByteBudget,
  hold: (octets: number) => void,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  const lines = new LineEndings()
  let length = 0
  let refusal: ServiceError | undefined
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (refusal) continue
    length += chunk.length
    refusal = length > LIMITS.messageSize ? tooLarge() : (lines.check(chunk) ?? reserve(chunk.length, budget, hold))
    if (refusal) chunks.length = 0
    else chunks.push(chunk)
  }
  refusal ??= lines.end()
  if (refusal) throw refusal
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
}

function reserve(octets: number, budget: ByteBudget, hold: (octets: number) => void): ServiceError | undefined {
  if (!budget.take(octets)) return new ServiceError('overloaded', { reason: 'no room for another body' })
  hold(octets)
  return undefined
}

export function tooLarge(): ServiceError {
  return new ServiceError('tooLarge', { values: { limit: `${LIMITS.messageSize} bytes` } })
}

/**
 * A bare CR or LF ends a line for some readers and not for others; passed on, it would let a message smuggle another one
 * behind it (CVE-2023-51764 and its kin). Refused, never mended: one documented choice.
 */
class LineEndings {
  #lastWasCr = false

  check(chunk: Buffer): ServiceError | undefined {
    if (chunk.includes(0)) return new ServiceError('messageMalformed', { values: { problem: 'it contains NUL' } })
    // Each LF must follow a CR, and there must be no more CRs than that.
    let feeds = 0
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) {
      const afterCr = at === 0 ? this.#lastWasCr : chunk[at - 1] === CR
      if (!afterCr) return bare()
      feeds++
    }
    let returns = this.#lastWasCr ? 1 : 0
    for (let at = chunk.indexOf(CR); at !== -1; at = chunk.indexOf(CR, at + 1)) returns++
    this.#lastWasCr = chunk[chunk.length - 1] === CR
    return returns - (this.#lastWasCr ? 1 : 0) === feeds ? undefined : bare()
  }

  end(): ServiceError | undefined {
    return this.#lastWasCr ? bare() : undefined
  }
}

function bare(): ServiceError {
  return new ServiceError('lineEndingInvalid')
}

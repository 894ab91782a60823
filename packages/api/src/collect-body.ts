import type { IncomingMessage } from 'node:http'
import { errorCodes, type FastifyRequest } from 'fastify'
import { LARGE_BODY } from './large-calls/large-body.ts'

type Done = (error: Error | null, body?: unknown) => void

/** A stream that knows how many octets came in before it unpacked them. */
type Payload = IncomingMessage & { readonly receivedEncodedLength?: number }

/**
 * Reads a body whole and hands it to `parse`, with the framework's own errors for one that is longer than `limit` or not as long as it was
 * announced. As the framework does, but for large ones: they are put into one piece of memory as they come, since joining the
 * pieces of 30 MB took a turn of 15 ms, and twice the memory.
 */
export function collectBody(limit: number, parse: (request: FastifyRequest, body: Buffer, done: Done) => void) {
  return (request: FastifyRequest, payload: Payload, done: Done): void => {
    const announced = Number(request.headers['content-length'])
    if (announced > limit) return void done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
    const collector = new Collector(limit, announced)
    const stop = (): void => {
      payload.off('data', onData)
      payload.off('end', onEnd)
      payload.off('error', onError)
    }
    const onData = (chunk: Buffer): void => {
      const { receivedEncodedLength = 0 } = payload
      if (receivedEncodedLength <= limit && collector.add(chunk)) return
      stop()
      done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
    }
    const onError = (error: Error & { statusCode?: number }): void => {
      stop()
      if (error.statusCode === undefined || error.statusCode < 400) error.statusCode = 400
      done(error)
    }
    const onEnd = (): void => {
      stop()
      const received = payload.receivedEncodedLength || collector.length
      if (!Number.isNaN(announced) && received !== announced) done(new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH())
      else parse(request, collector.body(), done)
    }
    payload.on('data', onData)
    payload.on('end', onEnd)
    payload.on('error', onError)
    payload.resume()
  }
}

class Collector {
  readonly #limit: number
  readonly #announced: number
  readonly #small: Buffer[] = []
  #large: Buffer | undefined
  length = 0

  /** `announced`: octets that may come, or NaN. */
  constructor(limit: number, announced: number) {
    this.#limit = limit
    this.#announced = announced
  }

  /** False: it is too much. */
  add(chunk: Buffer): boolean {
    const before = this.length
    this.length += chunk.length
    if (this.length > this.#limit) return false
    if (this.#large) this.#put(chunk, before)
    else if (before === 0 && chunk.length > LARGE_BODY) {
      // Sockets give less at a time: this is memory of its own.
      this.#large = chunk
    } else {
      this.#small.push(chunk)
      if (this.length > LARGE_BODY) this.#enlarge()
    }
    return true
  }

  body(): Buffer {
    return this.#large?.subarray(0, this.length) ?? Buffer.concat(this.#small, this.length)
  }

  #enlarge(): void {
    this.#large = Buffer.allocUnsafeSlow(Math.max(this.length, this.#announced || this.length * 2))
    let at = 0
    for (const chunk of this.#small.splice(0)) {
      this.#put(chunk, at)
      at += chunk.length
    }
  }

  #put(chunk: Buffer, at: number): void {
    const large = this.#large as Buffer
    const length = at + chunk.length
    if (length > large.length) {
      // Unpacked, or of a length that nobody announced.
      this.#large = Buffer.allocUnsafeSlow(Math.min(Math.max(length, large.length * 2), this.#limit))
      large.copy(this.#large, 0, 0, at)
    }
    chunk.copy(this.#large as Buffer, at)
  }
}

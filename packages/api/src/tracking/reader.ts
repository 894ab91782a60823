import type { Reader } from '@postrider/core'
import { timerDelay } from '@postrider/core'
import type { FastifyRequest } from 'fastify'
import { clientAddress } from '../http/client-address.ts'

export function readerOf(request: FastifyRequest): Reader {
  return { method: request.method, headers: request.headers, address: clientAddress(request) }
}

/** Returns the result of `answer`, or undefined if it takes longer than `milliseconds`. */
export async function within<T>(milliseconds: number, answer: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, timerDelay(milliseconds), undefined)
  // A later rejection has no receiver.
  answer.catch(() => {})
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}

import type { Reader } from '@postrider/core'
import type { FastifyRequest } from 'fastify'
import { clientAddress } from '../client-address.ts'

export function readerOf(request: FastifyRequest): Reader {
  return { method: request.method, headers: request.headers, address: clientAddress(request) }
}

/** What `answer` comes to; undefined when it takes longer than so many milliseconds. */
export async function within<T>(milliseconds: number, answer: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, milliseconds, undefined)
  // Nobody may be left to hear of it.
  answer.catch(() => {})
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}

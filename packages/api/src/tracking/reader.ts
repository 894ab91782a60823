import type { Reader } from '@postrider/core'
import type { FastifyRequest } from 'fastify'
import { clientAddress } from '../http/client-address.ts'

export function readerOf(request: FastifyRequest): Reader {
  return { method: request.method, headers: request.headers, address: clientAddress(request) }
}

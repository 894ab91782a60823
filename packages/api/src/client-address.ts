import { isIP } from 'node:net'
import { plainAddress } from '@postrider/core'
import type { FastifyRequest } from 'fastify'

/** The address of somebody unknown (RFC 6890 2.2.2: "this host"); in no network a key could be bound to. */
const UNKNOWN = '0.0.0.0'

/**
 * The client's address: the socket's, or the hop that a configured proxy vouches for (V42). Proxies also write a port behind
 * it, or a word such as "unknown"; who hides there is in no allowed network, and must not make the record of the message fail.
 */
export function clientAddress({ ip }: FastifyRequest): string {
  const address = plainAddress(ip ?? '')
  if (isIP(address)) return address
  const [, six, four] = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::\d{1,5})?$/i.exec(address) ?? []
  const bare = plainAddress(six ?? four ?? '')
  return isIP(bare) ? bare : UNKNOWN
}

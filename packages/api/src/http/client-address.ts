import { isIP } from 'node:net'
import { plainAddress } from '@postrider/core'
import type { FastifyRequest } from 'fastify'

/** Stands for an unknown address (RFC 6890 2.2.2: "this host"). It lies in no network that a key could be restricted to. */
const UNKNOWN = '0.0.0.0'

/**
 * Returns the client's address: that of the socket, or of the hop that a configured proxy vouches for (V42). Proxies also append
 * a port or send a word such as "unknown". Such a client is in no allowed network, and its address must not prevent the message
 * from being recorded.
 */
export function clientAddress({ ip }: FastifyRequest): string {
  const address = plainAddress(ip ?? '')
  if (isIP(address)) return address
  const [, six, four] = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::\d{1,5})?$/i.exec(address) ?? []
  const bare = plainAddress(six ?? four ?? '')
  return isIP(bare) ? bare : UNKNOWN
}

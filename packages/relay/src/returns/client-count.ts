import { networkOf } from '@postrider/core'

/** Connections at once of one IPv4 address, or of the /64 of an IPv6 address. */
const MAX_CONNECTIONS = 20

/** Counts connections by client, so that one of them does not take all. */
export interface ClientCount {
  /** Returns false if the client has as many connections as it may have; this one is then not counted. */
  enter(address: string): boolean
  leave(address: string): void
}

export function createClientCount(): ClientCount {
  const counts = new Map<string, number>()
  return {
    enter(address) {
      const name = networkOf(address)
      const count = counts.get(name) ?? 0
      if (count >= MAX_CONNECTIONS) return false
      counts.set(name, count + 1)
      return true
    },
    leave(address) {
      const name = networkOf(address)
      const count = counts.get(name) ?? 0
      if (count > 1) counts.set(name, count - 1)
      else counts.delete(name)
    },
  }
}

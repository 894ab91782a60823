import { networkOf, siteNetworkOf } from '@postrider/core'

/** The most at once of one IPv4 address, or of the /64 of an IPv6 address; and of an IPv4 /16, or of an IPv6 /48. */
export interface ClientLimits {
  readonly ofClient: number
  readonly ofSite: number
}

/** Counts connections, or what they do, by client and by the network around it, so that neither takes all. */
export interface ClientCount {
  /** Returns false if the client, or its network, has as many as it may have; this one is then not counted. */
  enter(address: string): boolean
  leave(address: string): void
}

export function createClientCount({ ofClient, ofSite }: ClientLimits): ClientCount {
  const clients = new Map<string, number>()
  const sites = new Map<string, number>()
  return {
    enter(address) {
      const [client, site] = [networkOf(address), siteNetworkOf(address)]
      if (countOf(clients, client) >= ofClient || countOf(sites, site) >= ofSite) return false
      add(clients, client, 1)
      add(sites, site, 1)
      return true
    },
    leave(address) {
      add(clients, networkOf(address), -1)
      add(sites, siteNetworkOf(address), -1)
    },
  }
}

function countOf(counts: ReadonlyMap<string, number>, name: string): number {
  return counts.get(name) ?? 0
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = countOf(counts, name) + change
  if (count > 0) counts.set(name, count)
  else counts.delete(name)
}

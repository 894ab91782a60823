import { NetworkList } from '@postrider/core'
import type { SMTPServerSession } from 'smtp-server'
import { type ClientCount, createClientCount } from './client-count.ts'
import type { RelayConnection } from './connection.ts'

/** Connections to a relay process: half of a port's for one client, which may be the NAT of a large customer, and three quarters for its network. */
const MAX_CONNECTIONS = { ofClient: 1000, ofSite: 1500 } as const
/** Of these, connections that have not authenticated. A pool of hundreds that all begin at once is in it for a moment. */
const MAX_UNAUTHENTICATED = { ofClient: 400, ofSite: 600 } as const
/** Share of a port's connections in use from which they are scarce; and the milliseconds in which a session then has to authenticate. */
const CROWDED = 0.75
const CROWDED_MS = 30_000

export interface SessionLimitsOptions {
  /** Clients of the operator that send without AUTH. They are not limited. */
  readonly trusted: readonly string[]
  /** Whether a client, at this moment, sends without AUTH as an account: it is counted as if it had authenticated. */
  readonly isListed: (address: string) => boolean
  /** Load balancers, at whose address all clients appear: they are not counted either, but have to authenticate in time. */
  readonly proxies: readonly string[]
  /** Connections of a port. */
  readonly maxClients: number
}

/** Limits what one client, or one network, has of the relay's connections. */
export interface SessionLimits {
  /** Counts the sockets whose TLS handshake has not ended and which have no session yet: as many as sessions without AUTH. */
  readonly handshakes: ClientCount
  /** Counts a session; returns false if its client has too many. */
  enter(session: SMTPServerSession): boolean
  noteAuthenticated(session: SMTPServerSession): void
  leave(session: SMTPServerSession): void
  /** Returns the milliseconds from its opening after which a connection is ended. */
  maxMs(connection: RelayConnection, connections: number): number
}

export function createSessionLimits({ trusted, isListed, proxies, maxClients }: SessionLimitsOptions): SessionLimits {
  const all = createClientCount(MAX_CONNECTIONS)
  const unauthenticated = createClientCount(MAX_UNAUTHENTICATED)
  const handshakes = createClientCount(MAX_UNAUTHENTICATED)
  const trustedNetworks = new NetworkList(trusted)
  const proxyNetworks = new NetworkList(proxies)
  /** Those that are counted; and of them, those without AUTH so far. */
  const counted = new WeakSet<SMTPServerSession>()
  const waiting = new WeakSet<SMTPServerSession>()

  function isCounted(address: string): boolean {
    return !trustedNetworks.has(address) && !proxyNetworks.has(address)
  }
  function noteAuthenticated(session: SMTPServerSession): void {
    if (waiting.delete(session)) unauthenticated.leave(session.remoteAddress)
  }
  return {
    handshakes: {
      enter: (address) => !isCounted(address) || handshakes.enter(address),
      leave(address) {
        if (isCounted(address)) handshakes.leave(address)
      },
    },
    enter(session) {
      const { remoteAddress } = session
      if (!isCounted(remoteAddress)) return true
      if (!all.enter(remoteAddress)) return false
      counted.add(session)
      if (isListed(remoteAddress)) return true
      if (!unauthenticated.enter(remoteAddress)) {
        counted.delete(session)
        all.leave(remoteAddress)
        return false
      }
      waiting.add(session)
      return true
    },
    noteAuthenticated,
    leave(session) {
      noteAuthenticated(session)
      if (counted.delete(session)) all.leave(session.remoteAddress)
    },
    maxMs({ session }, connections) {
      const { user, remoteAddress: address } = session
      const maySit = user || connections <= maxClients * CROWDED || trustedNetworks.has(address) || isListed(address)
      return maySit ? Number.POSITIVE_INFINITY : CROWDED_MS
    },
  }
}

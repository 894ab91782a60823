import type { SMTPServerSession } from 'smtp-server'
import type { RelayConnection } from '../smtp/connection.ts'

export interface SessionTimeOptions {
  readonly maxClients: number
  /** Milliseconds of a session. */
  readonly maxMs: number
  /** Milliseconds until a session begins its first message while more than three quarters of all connections are in use. */
  readonly crowdedMs: number
}

/** How long sessions may last. Networks that take many connections and send nothing hold them for a short time only. */
export interface SessionTime {
  /** Notes that a message of the session was taken. */
  noteTaken(session: SMTPServerSession): void
  /** Returns the milliseconds from its opening after which a connection is ended. */
  of(connection: RelayConnection, connections: number): number
}

/** Share of the connections in use from which they are scarce. */
const CROWDED = 0.75

export function createSessionTime({ maxClients, maxMs, crowdedMs }: SessionTimeOptions): SessionTime {
  const productive = new WeakSet<SMTPServerSession>()
  return {
    noteTaken: (session) => void productive.add(session),
    of(connection, connections) {
      if (connections <= maxClients * CROWDED) return maxMs
      // From its opening, because each NOOP would begin another idle time. The octets of a message have a minimum rate of their own.
      const isProductive = productive.has(connection.session) || Boolean(connection._dataStream)
      return isProductive ? maxMs : crowdedMs
    },
  }
}

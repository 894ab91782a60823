/**
 * Maximum number of connections that the pools of a process open, by program. `largeCalls` is a thread of the API's: few large messages
 * arrive at a time, and their accepts share commits.
 */
export const POOL_SIZES = { api: 10, largeCalls: 3, relay: 10, delivery: 8, returns: 10 } as const

/** Maximum number of connections to the standby of DATABASE_READ_URL, by program. */
export const STANDBY_POOL_SIZES = { api: 5, delivery: 2 } as const

/** Connections that a process opens in addition to its pool: one that listens, and in delivery one for the lease. */
const BESIDE = { api: 1 + POOL_SIZES.largeCalls, relay: 1, delivery: 2, returns: 1 } as const

export const DATABASE_PROGRAMS = ['api', 'relay', 'delivery', 'returns'] as const
export type DatabaseProgram = (typeof DATABASE_PROGRAMS)[number]

/** Returns the number of connections that a process of this program opens under load. */
export function connectionsOf(program: DatabaseProgram): number {
  return POOL_SIZES[program] + BESIDE[program]
}

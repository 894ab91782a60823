import { connectionsOf } from '@postrider/core'

/** An amount of mail, and how long it is kept. */
export interface PlanInput {
  readonly perDay: number
  /** Bytes of a message. */
  readonly size: number
  readonly bodyDays: number
  readonly eventDays: number
  /** How many times the average the busiest minutes have. */
  readonly peak: number
}

/** The estimated need of an installation. */
export interface CapacityPlan {
  /** Messages per second in the busiest minutes. */
  readonly perSecond: number
  /** Processor cores that are busy then. */
  readonly cores: { readonly accept: number; readonly delivery: number; readonly database: number }
  /** Processes of each kind: each uses one core. */
  readonly processes: { readonly api: number; readonly relay: number; readonly delivery: number }
  /** Connections to the database under load. */
  readonly connections: number
  /** Bytes on the disk of the database when the oldest data begins to expire. */
  readonly disk: { readonly bodies: number; readonly rows: number; readonly daily: number; readonly wal: number }
  /** The resource that is exhausted first on one database server; undefined if nothing is near. */
  readonly bound: 'disk' | 'database' | undefined
}

/**
 * Microseconds of processor time per message with one recipient, and per further kilobyte beyond ten (docs/scaling.md has the runs). `accept` is the relay,
 * which costs more than the API.
 */
const COST = {
  accept: { base: 320, perKb: 6 },
  delivery: { base: 670, perKb: 4 },
  database: { base: 300, perKb: 8 },
} as const
/** Bytes of all rows of a delivered message with their indexes, without its body (sql/README.md). */
const ROW_BYTES = 1500
/** Bodies are deflated; text and HTML shrink to a third or half, attachments by nothing. */
const DEFLATED = 0.45
/** Bytes of write-ahead log per byte of data. */
const WAL_FACTOR = 2
/** Part of a core that a process may use in the busiest minutes. */
const LOAD = 0.6
/** Beyond these, one server is unusual hardware. */
const MANY = { disk: 4e12, cores: 24 } as const

/** Estimates what an installation needs. Two processes of each kind are the least that survive a lost host. */
export function capacityPlan({ perDay, size, bodyDays, eventDays, peak }: PlanInput): CapacityPlan {
  const perSecond = (perDay / 86_400) * peak
  const coresOf = (part: keyof typeof COST): number => {
    const { base, perKb } = COST[part]
    return (perSecond * (base + perKb * Math.max(0, size / 1000 - 10))) / 1e6
  }
  const cores = { accept: coresOf('accept'), delivery: coresOf('delivery'), database: coresOf('database') }
  const count = (needed: number): number => Math.max(2, Math.ceil(needed / LOAD))
  const processes = { api: count(cores.accept), relay: count(cores.accept), delivery: count(cores.delivery) }
  const daily = perDay * (size * DEFLATED + ROW_BYTES)
  const disk = {
    bodies: perDay * size * DEFLATED * bodyDays,
    rows: perDay * ROW_BYTES * eventDays,
    daily,
    wal: daily * WAL_FACTOR,
  }
  const programs = ['api', 'relay', 'delivery'] as const
  return {
    perSecond,
    cores,
    processes,
    connections: programs.reduce((sum, program) => sum + processes[program] * connectionsOf(program), 0),
    disk,
    bound: disk.bodies + disk.rows > MANY.disk ? 'disk' : cores.database / LOAD > MANY.cores ? 'database' : undefined,
  }
}

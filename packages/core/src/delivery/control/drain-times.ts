import { type DestinationLimits, effectiveLimits } from '../limits/destination-limits.ts'
import { partsOfDestination } from '../limits/destination-names.ts'
import type { Providers } from '../providers/providers.ts'
import type { BoundedCount, QueueGroup } from './overview.ts'

/** How long it takes until all mail that waits for a place's capacity has been tried. */
export interface DrainTime {
  readonly place: string
  /** Deliveries that wait for connections or for the rate. */
  readonly waiting: BoundedCount
  /** Seconds with the limits as they are, and as planned; null if unknown. */
  readonly before: number | null
  readonly after: number | null
}

export interface DrainQuestion {
  /** By provider. */
  readonly groups: readonly QueueGroup[]
  readonly before: Providers
  readonly after: Providers
  readonly siteConnections: number
}

/**
 * Returns the drain times of destinations whose connections or rate a plan changes and that have mail waiting for them. They rest on what was tried
 * there within the last two minutes: twice the connections try twice as much, up to the rate.
 */
export function drainTimes({ groups, before, after, siteConnections }: DrainQuestion): DrainTime[] {
  return groups.flatMap((group) => {
    if (group.name === null) return []
    const { base } = partsOfDestination(group.name)
    const limits = (providers: Providers) =>
      effectiveLimits({ provider: providers.named(base), siteConnections, overrides: group.overrides })
    const [was, is] = [limits(before), limits(after)]
    const { rate, connections } = group.parked
    const waiting = { count: rate.count + connections.count, more: rate.more || connections.more }
    if (waiting.count === 0 || (was.connections === is.connections && perSecond(was) === perSecond(is))) return []
    const speed = speedOf(group, was)
    const planned = Math.min(perSecond(is), connectionSpeed(group, was, is))
    return [
      {
        place: group.name,
        waiting,
        before: seconds(waiting, speed),
        after: seconds(waiting, is.isPaused ? 0 : planned),
      },
    ]
  })
}

/** Deliveries per second that the rate allows. */
function perSecond({ rate }: DestinationLimits): number {
  return rate ? rate.messages / rate.seconds : Number.POSITIVE_INFINITY
}

/** Deliveries per second, as they were tried lately; 0 if unknown. */
function speedOf({ rate }: QueueGroup, limits: DestinationLimits): number {
  if (limits.isPaused) return 0
  if (rate && rate.tried > 0) return rate.tried / Math.max(rate.seconds, 1)
  return Number.isFinite(perSecond(limits)) ? perSecond(limits) : 0
}

/** Deliveries per second that the planned connections can try; 0 if unknown, since mail waits only for the rate, and they were not all in use. */
function connectionSpeed(group: QueueGroup, was: DestinationLimits, is: DestinationLimits): number {
  if (group.parked.connections.count > 0) return (speedOf(group, was) * is.connections) / was.connections
  return Number.isFinite(perSecond(is)) && is.connections >= was.connections ? Number.POSITIVE_INFINITY : 0
}

function seconds({ count, more }: BoundedCount, speed: number): number | null {
  return more || speed === 0 || !Number.isFinite(speed) ? null : Math.ceil(count / speed)
}
